//! How a command ends.

use std::process::ExitCode;

/// How a command ended that could run; one that could not returns an error instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All that was asked was done.
    Done,
    /// It was done, but something was wrong: damage, or a part that could not be kept.
    Partial,
    /// As another process ended, which has said what there was to say: exit status.
    As(u8),
}

impl Exit {
    /// `Partial` if anything was wrong.
    pub fn partial_if(wrong: bool) -> Self {
        if wrong { Self::Partial } else { Self::Done }
    }
}

/// Exit status of a command that could not run, as of a wrong command line.
pub const CANNOT_RUN: u8 = 2;
/// Exit status after SIGINT, SIGTERM or SIGHUP, as a shell states the first of them.
pub const INTERRUPTED: u8 = 130;

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Partial => Self::from(1),
            Exit::As(status) => Self::from(status),
        }
    }
}
