//! Where a file is completed.

use std::fmt;
use std::path::Path;

/// Where a file is completed.
pub struct Site<'a> {
    /// The old file.
    pub old: &'a Path,
    /// For files that are removed again.
    pub directory: &'a Path,
    /// Whether to give up.
    pub stop: &'a mut dyn FnMut() -> bool,
}

impl fmt::Debug for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut site = f.debug_struct("Site");
        site.field("old", &self.old);
        site.field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}
