//! Decompressing what a program will need, before it asks.
//!
//! The blocks that a profile names are decompressed in the order in which they were needed, into
//! the cache where requests look for them. Requests come first: there are never more threads at
//! work than processors, those that answer included. The threads have the priority of all others,
//! though: a request that needs a block that is being prefetched waits for it, and would wait long
//! for a thread that only runs when nobody else wants to.

use std::io;
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use coldpress_image::StoredBlock;
use coldpress_trace::WorkingSet;

use crate::cache::lock;
use crate::file_system::FileSystem;
use crate::pace::Pace;
use crate::prefetch_control::PrefetchPolicy;
use crate::profile_cursor::ProfileCursor;

/// What is prefetched and not asked for takes this part of the cache at most: the rest is for what
/// is asked for.
const CACHE_PARTS: u64 = 2;
/// So much must be prefetched, and so much asked for, before a prefetch may be given up...
const WARM_UP_BYTES: u64 = 8 << 20;
/// ... and so many blocks.
const WARM_UP_BLOCKS_MIN: u64 = 8;

/// What a prefetch may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefetchLimits {
    /// Threads that decompress at a time, those that answer requests included.
    pub threads: NonZeroUsize,
    /// Bytes of the image that are read in a second, on average; `None` is as many as can be.
    pub bytes_per_s: Option<NonZeroU64>,
}

/// Threads that prefetch; they end on drop, and when there is nothing more to prefetch.
#[derive(Debug)]
pub struct Prefetch {
    file_system: Arc<FileSystem>,
    threads: Vec<JoinHandle<()>>,
}

impl Prefetch {
    /// Starts to prefetch, once for a file system.
    ///
    /// It ends early when less than a fourth of it is what requests ask for. Nothing is prefetched
    /// if the cache has no room for two blocks.
    ///
    /// * `set`: what is needed, by paths from the root of the image.
    ///
    /// # Errors
    ///
    /// If there are no threads to be had.
    pub fn start(
        file_system: &Arc<FileSystem>,
        set: WorkingSet,
        limits: PrefetchLimits,
    ) -> io::Result<Self> {
        let mut prefetch = Self {
            file_system: Arc::clone(file_system),
            threads: Vec::new(),
        };
        let block_bytes = u64::from(file_system.volume().block_bytes);
        let held_bytes_max = file_system.cache_bytes() / CACHE_PARTS;
        if held_bytes_max < block_bytes {
            return Ok(prefetch);
        }
        file_system.prefetch_control().open(PrefetchPolicy {
            busy_max: limits.threads.get(),
            held_bytes_max,
            warm_up_blocks: (WARM_UP_BYTES / block_bytes).max(WARM_UP_BLOCKS_MIN),
            pace: Pace::new(Instant::now(), limits.bytes_per_s),
        });
        let work = Arc::new(Work {
            file_system: Arc::clone(file_system),
            cursor: Mutex::new(ProfileCursor::new(set)),
        });
        for _ in 0..limits.threads.get() {
            let work = Arc::clone(&work);
            let thread = thread::Builder::new().name("prefetch".to_owned());
            prefetch.threads.push(thread.spawn(move || work.run())?);
        }
        Ok(prefetch)
    }

    /// Waits until there is nothing more to prefetch, or it was given up.
    pub fn wait(&mut self) {
        for thread in self.threads.drain(..) {
            // One that panicked has nothing to say.
            let _ = thread.join();
        }
    }
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        self.file_system.prefetch_control().close();
        self.wait();
    }
}

/// What the threads share; the last of them notes the end.
struct Work {
    file_system: Arc<FileSystem>,
    cursor: Mutex<ProfileCursor>,
}

impl Work {
    fn run(&self) {
        while let Some(block) = self.next_block() {
            if self.file_system.prefetch(&block).is_err() {
                return;
            }
        }
    }

    fn next_block(&self) -> Option<StoredBlock> {
        lock(&self.cursor).next(&self.file_system)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.file_system.prefetch_control().finish();
    }
}
