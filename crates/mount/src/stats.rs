//! How a mount was used.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::cache::CacheCounts;
use crate::prefetch_control::PrefetchCounts;

/// What was asked for, and where it came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Reads that were answered. What the kernel keeps is no read.
    pub reads: u64,
    /// Bytes that they were answered with.
    pub read_bytes: u64,
    /// Blocks of files: found decompressed, and decompressed, by whoever.
    pub blocks: CacheCounts,
    /// Memory of the blocks that are kept now.
    pub kept_bytes: u64,
    /// Blocks that helpers decompressed or found decompressed.
    pub handed_over: u64,
    /// Of these bytes, those that the kernel was made to ask for, when it had asked for another
    /// part of their blocks.
    pub pushed_bytes: u64,
    /// Listings of directories.
    pub listings: CacheCounts,
    /// Block lists of files.
    pub block_lists: CacheCounts,
    /// What was decompressed before it was asked for.
    pub prefetch: PrefetchCounts,
    /// Of an image with a start pack, how that was used.
    pub start_pack: Option<PackCounts>,
}

/// How a start pack was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackCounts {
    /// Pages of 4 KiB that it answered with.
    pub pages: u64,
    /// Reads around what a program needed that were put off.
    pub put_off: u64,
}

/// Counts reads.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    count: AtomicU64,
    bytes: AtomicU64,
}

impl Reads {
    pub(crate) fn note(&self, len: usize) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(len as u64, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}
