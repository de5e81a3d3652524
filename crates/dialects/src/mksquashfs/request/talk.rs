//! What is said.

use std::path::PathBuf;

/// What is printed while an image is written.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "options that contradict each other are told apart later"
)]
pub struct Talk {
    /// The first error ends the work.
    pub exit_on_error: bool,
    /// Nothing but errors.
    pub quiet: bool,
    /// Where the names of what is stored go.
    pub info: Info,
    /// A bar is asked for.
    pub progress: bool,
    /// No bar is asked for.
    pub no_progress: bool,
    /// Percents instead of a bar.
    pub percentage: bool,
}

impl Talk {
    /// Whether there is a progress bar: names or percents on standard output take its place.
    pub fn shows_bar(&self) -> bool {
        let is_hidden = self.no_progress || self.percentage;
        !is_hidden && (self.progress || self.info != Info::Stdout)
    }
}

/// Where the names of what is stored go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Info {
    /// Nowhere.
    #[default]
    Nowhere,
    /// To standard output.
    Stdout,
    /// Into this file, which must not be there.
    File(PathBuf),
}
