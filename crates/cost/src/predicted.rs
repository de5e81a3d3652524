//! The geometry of an image that is not built yet.

mod tables;

use coldpress_format::{BlockSize, Compressor, SUPERBLOCK_SIZE};
use coldpress_layout::{Item, NodeId, Order, Packing, Tree};

use crate::geometry::{Extent, Geometry};
use tables::Tables;

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
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of what fits"
    )]
    fn metadata_bytes(&self, len_bytes: u32) -> u32 {
        (f64::from(len_bytes) * METADATA_RATIO).ceil() as u32
    }
}

impl Geometry {
    /// What an image would look like that is built in an order with blocks of expected sizes. What the order has stored is
    /// stored, whatever `sizes` says.
    ///
    /// # Cost
    ///
    /// O(n) in the nodes of the tree and the blocks of its files, for which it asks `sizes` once each; holds a path for each name.
    pub fn predicted(
        tree: &Tree,
        order: &Order,
        compressor: Compressor,
        block_size: BlockSize,
        sizes: &dyn BlockSizes,
    ) -> Self {
        let data = Data::place(tree, order, block_size, sizes);
        Tables::new(tree, order, data, sizes).geometry(compressor, block_size)
    }
}

/// The data area.
struct Data {
    /// Image byte behind it.
    end: u64,
    /// By node: the data blocks, and the fragment block with the tail end. Those of duplicates are empty.
    blocks: Vec<Vec<Extent>>,
    tails: Vec<Option<u32>>,
    fragments: Vec<Extent>,
}

impl Data {
    fn place(tree: &Tree, order: &Order, block_size: BlockSize, sizes: &dyn BlockSizes) -> Self {
        let mut data = Self {
            end: SUPERBLOCK_SIZE as u64,
            blocks: vec![Vec::new(); tree.nodes.len()],
            tails: vec![None; tree.nodes.len()],
            fragments: Vec::new(),
        };
        data.note_tails(order);
        for (at, item) in order.data.iter().enumerate() {
            let is_stored = |block| order.packing(at, block) == Packing::Stored;
            match item {
                Item::Blocks(file) => data.place_blocks(tree, *file, block_size, sizes, &is_stored),
                Item::Fragment(members) => {
                    let tail =
                        |file: &NodeId| block_size.tail_bytes(tree.file_size(*file).unwrap_or(0));
                    let len_bytes = members.iter().map(tail).sum();
                    let stored_bytes = sizes.fragment_bytes(members, len_bytes);
                    let extent = data.append(len_bytes, stored_bytes, is_stored(0));
                    data.fragments.push(extent);
                }
            }
        }
        data
    }

    /// Numbers fragment blocks, in their order.
    fn note_tails(&mut self, order: &Order) {
        let fragments = order.data.iter().filter_map(|item| match item {
            Item::Fragment(members) => Some(members),
            Item::Blocks(_) => None,
        });
        for (members, number) in fragments.zip(0..) {
            for file in members {
                if let Some(tail) = self.tails.get_mut(file.index()) {
                    *tail = Some(number);
                }
            }
        }
    }

    fn place_blocks(
        &mut self,
        tree: &Tree,
        file: NodeId,
        block_size: BlockSize,
        sizes: &dyn BlockSizes,
        is_stored: &dyn Fn(u64) -> bool,
    ) {
        let size_bytes = tree.file_size(file).unwrap_or(0);
        let full = block_size.full_blocks(size_bytes);
        let tail_bytes = block_size.tail_bytes(size_bytes);
        let tail_of = tree.tail_of(file).index();
        let has_tail = tail_bytes > 0 && self.tails.get(tail_of).copied().flatten().is_none();
        let mut blocks = Vec::new();
        for block in 0..full + u64::from(has_tail) {
            let len_bytes = if block < full {
                block_size.bytes()
            } else {
                tail_bytes
            };
            let stored_bytes = sizes.stored_bytes(file, block, len_bytes);
            blocks.push(self.append(len_bytes, stored_bytes, is_stored(block)));
        }
        if let Some(place) = self.blocks.get_mut(file.index()) {
            *place = blocks;
        }
    }

    fn append(&mut self, len_bytes: u32, stored_bytes: u32, is_stored: bool) -> Extent {
        let is_stored = stored_bytes > 0 && (is_stored || stored_bytes >= len_bytes);
        let extent = Extent {
            start_byte: self.end,
            stored_bytes: if is_stored { len_bytes } else { stored_bytes },
            len_bytes,
            is_stored,
        };
        self.end = extent.end();
        extent
    }
}

#[cfg(test)]
pub(crate) mod tests;
