//! How much all paths of an image may take together.

use coldpress_format::{Corrupt, Part, Rule};

/// The most bytes of all paths together: nested directories of a small hostile image have paths
/// whose sum grows with the square of their number.
const PATHS_MAX_BYTES: u64 = 1 << 30;

/// What the paths that are kept of an image take so far.
#[derive(Debug, Default)]
pub struct PathBudget {
    taken_bytes: u64,
}

impl PathBudget {
    /// Counts a path that is to be kept.
    ///
    /// * `start`: byte of the image at which the path was found to be too much, for the error.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if all paths together take over 1 GiB.
    pub fn take(&mut self, path: &[u8], start: u64) -> Result<(), Corrupt> {
        self.taken_bytes += path.len() as u64;
        if self.taken_bytes <= PATHS_MAX_BYTES {
            return Ok(());
        }
        let rule = Rule::OutOfRange {
            field: "bytes of all paths",
            found: self.taken_bytes,
            low: 0,
            high: PATHS_MAX_BYTES,
        };
        Err(Corrupt::new(Part::Inode, start, rule))
    }
}
