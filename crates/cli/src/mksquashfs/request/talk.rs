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

/// Where the names of what is stored go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Info {
    #[default]
    Nowhere,
    Stdout,
    File(PathBuf),
}
