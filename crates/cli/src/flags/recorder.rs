//! How a start is recorded.

use clap::{Args, ValueEnum};

/// How a start is recorded.
#[derive(Debug, Args)]
pub(crate) struct RecorderArgs {
    /// How to record: auto, kernel, fuse or opens [default: auto]
    ///
    /// kernel: records events of the kernel for a mounted image, page by page, and proves that the
    /// start was cold. Needs root and Linux 6.12 or later.
    ///
    /// fuse: records requests to an image that is mounted in user space, page by page. Does not
    /// need root if fusermount3 is installed.
    ///
    /// opens: records the system calls that name files, in the directory itself. Does not need
    /// root. All pages of an opened file count as possibly used.
    ///
    /// auto: takes the first of these that works here. coldpress says why those before it do not
    /// work.
    #[arg(
        long,
        value_name = "NAME",
        value_enum,
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub(crate) recorder: RecorderName,
}

/// A recorder, or the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecorderName {
    /// The best that is possible.
    Auto,
    /// Events of the kernel.
    Kernel,
    /// Requests of a mount in user space.
    Fuse,
    /// System calls that name files.
    Opens,
}

impl RecorderName {
    /// As it is typed.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Kernel => "kernel",
            Self::Fuse => "fuse",
            Self::Opens => "opens",
        }
    }
}
