//! Sizes of blocks from samples, as the cost model asks for them.

use coldpress_assemble::Table;
use coldpress_cost::BlockSizes;
use coldpress_layout::NodeId;
use coldpress_writer::{SampledBlocks, Source};

use crate::spend::Stored;

/// The blocks of a candidate.
#[derive(Clone, Debug)]
pub(crate) struct Sizes<'a> {
    pub(crate) source: &'a Source,
    pub(crate) blocks: SampledBlocks<'a>,
    /// Blocks that are stored although they could be compressed.
    pub(crate) stored: Stored,
}

impl BlockSizes for Sizes<'_> {
    fn stored_bytes(&self, file: NodeId, block: u64, len_bytes: u32) -> u32 {
        if self.stored.blocks.contains(&(file, block)) {
            return len_bytes;
        }
        self.blocks.stored_bytes(file, block)
    }

    fn fragment_bytes(&self, members: &[NodeId], len_bytes: u32) -> u32 {
        let first = members.first();
        if first.is_some_and(|first| self.stored.fragments.contains(first)) {
            return len_bytes;
        }
        self.blocks.fragment_bytes(members, len_bytes)
    }

    fn metadata_bytes(&self, table: Table, _block: usize, len_bytes: u32) -> u32 {
        self.blocks.metadata_bytes(table, len_bytes)
    }

    fn is_sparse(&self, file: NodeId) -> bool {
        self.source.is_sparse(file)
    }
}
