//! What is said.

use std::path::PathBuf;

/// What is printed while an image is written.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "options that contradict each other are told apart later"
)]
pub(crate) struct Talk {
    pub(crate) exit_on_error: bool,
    pub(crate) quiet: bool,
    pub(crate) info: Info,
    pub(crate) progress: bool,
    pub(crate) no_progress: bool,
    pub(crate) percentage: bool,
}

impl Talk {
    /// Whether there is a progress bar: names or percents on standard output take its place.
    pub(crate) fn shows_bar(&self) -> bool {
        let is_hidden = self.no_progress || self.percentage;
        !is_hidden && (self.progress || self.info != Info::Stdout)
    }
}

/// Where the names of what is stored go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Info {
    #[default]
    Nowhere,
    Stdout,
    File(PathBuf),
}
