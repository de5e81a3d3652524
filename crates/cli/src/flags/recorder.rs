//! How a start is recorded.

use clap::{Args, ValueEnum};

/// How a start is recorded.
#[derive(Debug, Args)]
pub(crate) struct RecorderArgs {
    /// How to record: auto, kernel, fuse or opens [default: auto]
    ///
    /// kernel: events of the kernel, from a mounted image, page by page and proven cold. Needs root
    /// and Linux 6.12.
    ///
    /// fuse: requests to an image that is mounted in user space, page by page. Needs no root where
    /// fusermount3 exists.
    ///
    /// opens: the system calls that name files, from the directory itself, without root. All pages
    /// of an opened file count as possibly used.
    ///
    /// auto: the first of them that works here. coldpress then says why the better ones do not
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
