//! A decompressed block, as it is kept.

use std::sync::atomic::AtomicU64;

use coldpress_image::StoredBlock;

use crate::cache::Weight;
use crate::ledger::Ticket;

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
    /// The inode whose file the kernel was given the rest of it for; 0 is none.
    pub(crate) given_to: AtomicU64,
    /// How much of it was asked for.
    pub(crate) asked_bytes: AtomicU64,
    /// Of one that was prefetched: tells when it is thrown out.
    pub(crate) _ticket: Option<Ticket>,
}

impl Weight for Block {
    fn weight_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }
}
