//! Why a delta cannot be measured.

use std::io;

use crate::updater::Updater;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The old image cannot be read, or is damaged.
    #[error("cannot read the old image")]
    Old(#[source] coldpress_image::Error),
    /// The new image cannot be read, or is damaged.
    #[error("cannot read the new image")]
    New(#[source] coldpress_image::Error),
    /// A file that an updater was given or made cannot be read or written.
    #[error("cannot read or write {what}")]
    File {
        /// What it is.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The program of an updater is not installed.
    #[error("{updater} needs `{program}`, which is not installed: install {package}")]
    Missing {
        /// Which updater.
        updater: Updater,
        /// Its program.
        program: &'static str,
        /// What brings it.
        package: &'static str,
    },
    /// The program of an updater ended with an error.
    #[error("`{program}` failed: {said}")]
    Failed {
        /// Its program.
        program: &'static str,
        /// The end of what it said.
        said: String,
    },
    /// What the program of an updater wrote is not what it is known to write.
    #[error("{what} of {updater} at byte {start} {rule}")]
    Unknown {
        /// Which updater.
        updater: Updater,
        /// What it wrote.
        what: &'static str,
        /// Where.
        start: u64,
        /// What is wrong with it.
        rule: &'static str,
    },
    /// A program cannot be started.
    #[error(transparent)]
    Start(#[from] coldpress_host::Error),
    /// The caller stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// An error of a file.
    pub(crate) fn file(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { what, source }
    }
}
