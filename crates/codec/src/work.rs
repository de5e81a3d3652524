//! Telling what threads are busy with, to somebody who has a clock.

use std::fmt::Debug;

/// What a thread is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// Opening or creating files.
    Open,
    /// Reading.
    Read,
    /// Hashing.
    Hash,
    /// Compressing, or finding that it is not worth it.
    Compress,
    /// Decompressing.
    Decompress,
    /// Writing.
    Write,
    /// Restoring owners, modes, times and xattrs.
    Metadata,
    /// Putting the tables of an image together, compressing and writing them.
    Tables,
}

/// Is told by each thread what it is busy with, as the crates below that work do not read clocks.
pub trait WorkObserver: Debug + Send + Sync {
    /// A thread begins with something. Returns whatever [`end`](WorkObserver::end) needs.
    fn begin(&self, work: Work) -> u64;

    /// The same thread has ended it.
    ///
    /// * `begun`: what [`begin`](WorkObserver::begin) returned.
    fn end(&self, work: Work, begun: u64);
}

/// A thread is busy with something while this lives.
#[derive(Debug)]
#[must_use = "the work ends when it is dropped"]
pub struct WorkSpan<'a> {
    watch: Option<&'a dyn WorkObserver>,
    work: Work,
    begun: u64,
}

impl<'a> WorkSpan<'a> {
    /// Begins. Without a watch it costs nothing.
    pub fn with(watch: Option<&'a dyn WorkObserver>, work: Work) -> Self {
        Self {
            watch,
            work,
            begun: watch.map_or(0, |watch| watch.begin(work)),
        }
    }
}

impl Drop for WorkSpan<'_> {
    fn drop(&mut self) {
        if let Some(watch) = self.watch {
            watch.end(self.work, self.begun);
        }
    }
}
