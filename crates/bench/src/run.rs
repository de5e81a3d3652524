//! One cold and one warm start, and why it may not count.

use std::fmt;

use coldpress_host::Status;

/// A cold start from one image and the warm start that followed in the same mount.
///
/// A figure is `None` where it was not measured, because the run ended before.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Run {
    /// Index into the contestants of the comparison.
    pub contestant: usize,
    /// Number of the turn, from 0. In each turn every contestant runs once.
    pub turn: u32,
    /// Wall time of the cold start; mounting is not part of it.
    pub cold_s: Option<f64>,
    /// Wall time of the warm start.
    pub warm_s: Option<f64>,
    /// Processor time (user and system) of the cold start, of all its processes and of a program
    /// that mounts the image.
    pub cpu_s: Option<f64>,
    /// Reads completed during the cold start: by the loop device; from a directory, or an image
    /// that a program mounts, by the disk below, for the command and that program.
    pub reads: Option<u64>,
    /// Bytes of these reads.
    pub read_bytes: Option<u64>,
    /// Time in which every file was read and hashed, one after the other, cold again.
    pub walk_s: Option<f64>,
    /// What was read then, in hexadecimal: of names, links and content, the same for the same tree.
    pub walk_digest: Option<String>,
    /// Reads completed before the cold start: attaching and mounting.
    pub mount_reads: Option<u64>,
    /// Bytes read before the cold start.
    pub mount_read_bytes: Option<u64>,
    /// Memory that the files of the mount occupy after both starts: the sum of cachestat(2) over
    /// its regular files. Taken once for each contestant, in its first counted run.
    pub page_cache_bytes: Option<u64>,
    /// How far the kernel read ahead in the files of the mount; `None` if it does not say.
    pub readahead_bytes: Option<u64>,
    /// What was checked before the cold start.
    pub coldness: Coldness,
    /// Why this run does not count; `None` if it does.
    pub excluded: Option<Excluded>,
}

/// The proof that a start was cold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coldness {
    /// Pages of the image file, or of all files of a directory, in the page cache after they were
    /// dropped, just before it was mounted. 0 in every run that counts.
    pub image_resident_pages: u64,
    /// How often the caches had to be dropped.
    pub attempts: u32,
    /// Whether the loop device held no other mount: a superblock that still lived somewhere would
    /// be shared, with all its cached pages. `None` if it did not come to mounting.
    pub fresh_superblock: Option<bool>,
}

/// Why a run does not count. Such runs are listed, never averaged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excluded {
    /// The command failed.
    Failed {
        /// How it ended.
        exit: Exit,
    },
    /// The command ended before it was ready.
    NotReady {
        /// How it ended.
        exit: Exit,
    },
    /// The command was killed at its time limit.
    TimedOut,
    /// Pages of the image stayed in the page cache; the command was not started.
    StartedWarm {
        /// How many, of 4 KiB each.
        pages: u64,
    },
    /// The image was still mounted elsewhere from the same device; the command was not started.
    MountedBefore,
    /// The wall time lies below the processor time divided by the processors: no program can do
    /// that, so one of the clocks was wrong.
    BelowCpuTime,
}

impl fmt::Display for Excluded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excluded::Failed { exit } => write!(f, "the command failed ({exit})"),
            Excluded::NotReady { exit } => {
                write!(f, "the command ended before it was ready ({exit})")
            }
            Excluded::TimedOut => f.write_str("the command exceeded its time limit"),
            Excluded::StartedWarm { pages } => {
                write!(f, "{pages} pages of the image stayed in the page cache")
            }
            Excluded::MountedBefore => f.write_str("the image was already mounted"),
            Excluded::BelowCpuTime => {
                f.write_str("the wall time lies below the processor time of the command")
            }
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// In a way the system did not tell.
    Unknown,
}

impl From<Status> for Exit {
    fn from(status: Status) -> Self {
        match (status.code, status.signal) {
            (Some(code), _) => Exit::Code(code),
            (None, Some(signal)) => Exit::Signal(signal),
            (None, None) => Exit::Unknown,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
            Exit::Unknown => f.write_str("no exit code"),
        }
    }
}
