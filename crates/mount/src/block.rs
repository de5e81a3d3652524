//! A decompressed block, as it is kept.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use coldpress_image::StoredBlock;

use crate::buffers::Buffers;
use crate::cache::Weight;
use crate::prefetch_control::Ticket;

/// By what a block is known: its image byte and its word. A damaged image may read the same bytes
/// in two ways.
pub(crate) type BlockKey = (u64, u32);

/// The key of a block.
pub(crate) fn key(block: &StoredBlock) -> BlockKey {
    (block.start, block.word.word())
}

/// What a data block or a fragment block holds.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) bytes: Vec<u8>,
    /// The inode for whose file the rest of it was pushed into the page cache; 0 is none.
    pub(crate) pushed_to: AtomicU64,
    /// How much of it was asked for.
    pub(crate) asked_bytes: AtomicU64,
    /// Of one that was prefetched: tells when it is thrown out.
    pub(crate) _ticket: Option<Ticket>,
    /// Who gets the memory.
    pub(crate) buffers: Arc<Buffers>,
}

impl Drop for Block {
    fn drop(&mut self) {
        self.buffers.give_back(mem::take(&mut self.bytes));
    }
}

impl Weight for Block {
    fn weight_bytes(&self) -> u64 {
        self.bytes.capacity() as u64
    }
}
