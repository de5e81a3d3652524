//! Bytes of a file, as an answer.

use std::ops::Range;
use std::sync::Arc;

use crate::block::Block;

/// Bytes that were read.
///
/// What lies in one block is not copied: the block is held until the answer was sent.
#[derive(Debug)]
pub struct Content(Held);

#[derive(Debug)]
enum Held {
    Shared(Arc<Block>, Range<usize>),
    Joined(Vec<u8>),
}

impl Content {
    /// A range of a block; empty if the block has no such range.
    pub(crate) fn shared(block: Arc<Block>, within: Range<usize>) -> Self {
        Self(Held::Shared(block, within))
    }

    /// Bytes of several blocks.
    pub(crate) fn joined(bytes: Vec<u8>) -> Self {
        Self(Held::Joined(bytes))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Held::Shared(block, within) => block.bytes.get(within.clone()).unwrap_or_default(),
            Held::Joined(bytes) => bytes,
        }
    }
}
