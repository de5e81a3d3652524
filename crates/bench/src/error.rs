//! What can keep a comparison from its end.

use std::io;
use std::path::{Path, PathBuf};

use coldpress_history::Study;

use crate::run::{Excluded, Exit};

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Linux refused something: privileges, loop devices, mounts, throttles.
    #[error(transparent)]
    Host(#[from] coldpress_host::Error),
    /// There is nothing to do.
    #[error("a comparison needs at least one image and one run")]
    NothingToCompare,
    /// The command failed in the first turn; it would fail in all others.
    #[error(
        "the command failed in its {start} start from `{contestant}` ({exit}){}",
        last_words(stderr_tail)
    )]
    CommandFailed {
        /// Name of the contestant.
        contestant: String,
        /// `cold` or `warm`.
        start: &'static str,
        /// How the command ended.
        exit: Exit,
        /// The end of what it wrote to its standard error.
        stderr_tail: String,
    },
    /// The command ended in the first turn before it was ready.
    #[error(
        "the command ended in its {start} start from `{contestant}` ({exit}) before it was ready \
        (`{ready}`){}",
        last_words(stderr_tail)
    )]
    CommandNotReady {
        /// Name of the contestant.
        contestant: String,
        /// `cold` or `warm`.
        start: &'static str,
        /// How the command ended.
        exit: Exit,
        /// What was waited for.
        ready: String,
        /// The end of what it wrote to its standard error.
        stderr_tail: String,
    },
    /// The command exceeded its time limit in the first turn.
    #[error(
        "the command {} within {timeout_s} s in its {start} start from `{contestant}`; \
         allow more time, {}{}",
        late(ready),
        end_of(ready),
        last_words(stderr_tail)
    )]
    CommandTimedOut {
        /// Name of the contestant.
        contestant: String,
        /// `cold` or `warm`.
        start: &'static str,
        /// The limit.
        timeout_s: u64,
        /// What was waited for.
        ready: String,
        /// The end of what it wrote to its standard error.
        stderr_tail: String,
    },
    /// All runs of a contestant were excluded.
    #[error(
        "no run of `{contestant}` counts; the last one was excluded because {reason}{}",
        hint(*reason)
    )]
    NothingCounted {
        /// Name of the contestant.
        contestant: String,
        /// Why its last run was excluded.
        reason: Excluded,
    },
    /// The progress callback asked to stop; everything was unmounted.
    #[error("the comparison was interrupted after {} runs", .0.runs.len())]
    Interrupted(Box<Study>),
    /// The caller asked to stop.
    #[error("the study was stopped")]
    Stopped,
    /// A tool of a build study found no room; all others would not either.
    #[error(
        "the disk of `{}` is full ({told}); a study needs room for an image and what is unpacked \
        of it",
        work.display()
    )]
    DiskFull {
        /// The work directory.
        work: PathBuf,
        /// What the tool said.
        told: String,
    },
    /// A run could not be kept.
    #[error(transparent)]
    History(#[from] coldpress_history::Error),
    /// What an image holds is none of the file systems that can be mounted here.
    #[error(
        "`{}` holds no known file system (SquashFS, EROFS, ext2 to ext4); give a program that \
         mounts it",
        image.display()
    )]
    UnknownFileSystem {
        /// The image.
        image: PathBuf,
    },
    /// The file system of an image has no direct I/O, so it cannot stand for a partition.
    #[error(
        "the file system of `{}` has no direct I/O, which the image needs to act as a partition; \
         put it on another disk, or compare with `via=file`",
        image.display()
    )]
    NoDirectIo {
        /// The image.
        image: PathBuf,
    },
    /// The pattern of the line that makes a guest ready is none.
    #[error("the pattern of the line that shows that a guest is ready")]
    Pattern(#[source] regex::Error),
    /// An image did not boot in the first turn; it would not in all others.
    #[error("`{contestant}` does not boot: {reason}{}", console(console_tail))]
    BootFailed {
        /// Name of the contestant.
        contestant: String,
        /// What became of the guest.
        reason: String,
        /// The last lines of its console.
        console_tail: String,
    },
    /// A file could not be used.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: names the action and the path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io {
            action,
            path,
            source,
        }
    }
}

fn last_words(stderr_tail: &str) -> String {
    match stderr_tail.trim() {
        "" => String::new(),
        words => format!("; its last words were:\n{words}"),
    }
}

fn console(tail: &str) -> String {
    match tail.trim() {
        "" => "; its console is empty (does the kernel have `console=ttyS0`?)".to_owned(),
        lines => format!("; its console ended with:\n{lines}"),
    }
}

fn late(ready: &str) -> String {
    if ready == "exit" {
        "did not end".to_owned()
    } else {
        format!("was not ready (`{ready}`)")
    }
}

fn end_of(ready: &str) -> &'static str {
    if ready == "exit" {
        "use a command that ends by itself, or state with `--ready` when it is ready"
    } else {
        "or wait for something else"
    }
}

fn hint(reason: Excluded) -> &'static str {
    match reason {
        Excluded::StartedWarm { .. } => {
            "; it must be on a disk (not in tmpfs), and no other program may use it"
        }
        _ => "",
    }
}
