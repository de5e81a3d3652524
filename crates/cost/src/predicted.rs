//! The geometry of an image that is not built yet.

use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::{NodeId, Order, Tree};

use crate::geometry::Geometry;

/// Bytes of a compressed metadata block for each byte that it holds, where nothing better is known: what zstd and gzip make of
/// the tables of Debian's root file systems.
pub const METADATA_RATIO: f64 = 0.35;

/// What the blocks of an image are expected to take.
pub trait BlockSizes {
    /// Bytes in the image of a data block; `len_bytes` or more if it is stored, 0 if it is sparse.
    ///
    /// * `file`: whose data it is; of duplicates the one that serves for all.
    /// * `block`: its number in the file. The one behind the last full block is a tail end that no fragment block has.
    /// * `len_bytes`: what it holds.
    fn stored_bytes(&self, file: NodeId, block: u64, len_bytes: u32) -> u32;

    /// Bytes in the image of a fragment block.
    ///
    /// * `members`: the files whose tail ends it holds.
    /// * `len_bytes`: what it holds.
    fn fragment_bytes(&self, members: &[NodeId], len_bytes: u32) -> u32;

    /// Bytes in the image of a metadata block that holds `len_bytes`, without its header.
    fn metadata_bytes(&self, len_bytes: u32) -> u32 {
        scaled(len_bytes, METADATA_RATIO)
    }
}

impl Geometry {
    /// What an image would look like that is built in an order with blocks of expected sizes.
    ///
    /// # Cost
    ///
    /// O(n) in the nodes of the tree and the blocks of its files, for which it asks `sizes` once each.
    pub fn predicted(
        tree: &Tree,
        order: &Order,
        compressor: Compressor,
        block_size: BlockSize,
        sizes: &dyn BlockSizes,
    ) -> Self {
        todo!()
    }
}
