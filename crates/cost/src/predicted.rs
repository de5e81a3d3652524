//! The geometry of an image that is not built yet.

mod tables;

use coldpress_assemble::{
    DataArea, Duplicates, FileBlock, FragmentBlock, StatedBlocks, Table, TableOptions, TooMany,
    assemble,
};
use coldpress_format::{BlockSize, BlockWord, Compressor};
use coldpress_layout::{BlockEncoding, NodeId, Order, Tree};

use crate::geometry::{Extent, Geometry};
use tables::Lengths;

/// Bytes of a compressed metadata block for each byte that it holds, where nothing better is known:
/// what zstd and gzip make of the tables of Debian's root file systems.
pub const METADATA_RATIO: f64 = 0.35;

/// What an image is like that is not built, beside what its blocks take.
#[derive(Clone, Copy, Debug)]
pub struct ImageOptions {
    /// What compresses the blocks that are not stored.
    pub compressor: Compressor,
    /// What a data block holds, but for the last of a file.
    pub block_size: BlockSize,
    /// Image byte at which the data area begins, after the superblock and the compressor's options.
    pub data_start: u64,
    /// How its tables lie.
    pub tables: TableOptions,
}

/// What the blocks of an image are expected to take.
pub trait BlockSizes {
    /// Bytes in the image of a data block; `len_bytes` or more if it is stored, 0 if it is sparse.
    ///
    /// * `file`: whose data it is; of duplicates the one that serves for all.
    /// * `block`: its number in the file. The one behind the last full block is a tail end that no
    ///   fragment block has.
    /// * `len_bytes`: what it holds.
    fn stored_bytes(&self, file: NodeId, block: u64, len_bytes: u32) -> u32;

    /// Bytes in the image of a fragment block.
    ///
    /// * `members`: the files whose tail ends it holds.
    /// * `len_bytes`: what it holds.
    fn fragment_bytes(&self, members: &[NodeId], len_bytes: u32) -> u32;

    /// Bytes in the image of a metadata block that holds `len_bytes`, without its header;
    /// `len_bytes` or more if it is stored.
    ///
    /// * `table`: the one that it belongs to.
    /// * `block`: its number there.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of what fits"
    )]
    fn metadata_bytes(&self, _table: Table, _block: usize, len_bytes: u32) -> u32 {
        (f64::from(len_bytes) * METADATA_RATIO).ceil() as u32
    }

    /// Whether a file takes less space in the source than it is long: its inode tells how much its
    /// sparse blocks save.
    fn is_sparse(&self, _file: NodeId) -> bool {
        false
    }
}

impl Geometry {
    /// What an image would look like that is built in an order with blocks of expected sizes. What
    /// the order has stored is stored, whatever `sizes` says.
    ///
    /// # Errors
    ///
    /// [`TooMany`] if the format does not allow such an image.
    ///
    /// # Cost
    ///
    /// O(n) in the nodes of the tree and the blocks of its files, for which it asks `sizes` once
    /// each; holds a path for each name.
    pub fn predicted(
        tree: &Tree,
        order: &Order,
        options: &ImageOptions,
        sizes: &dyn BlockSizes,
    ) -> Result<Self, TooMany> {
        let duplicates = Duplicates::of(tree);
        let (block_size, start) = (options.block_size, options.data_start);
        let mut blocks = Stated {
            order,
            sizes,
            fragment_lens: Vec::new(),
        };
        let area = DataArea::stated(tree, order, duplicates, block_size, start, &mut blocks);
        let fragments = area.fragments.iter().zip(blocks.fragment_lens);
        let fragments = fragments
            .map(|(block, len_bytes)| Extent::new(block.start, block.size, len_bytes))
            .collect();
        let mut lengths = Lengths::new(tree, block_size, sizes);
        let tables = assemble(tree, order, area, options.tables, &mut lengths)?;
        Ok(lengths.geometry(options, fragments, &tables))
    }
}

/// Sizes of blocks as the assembler asks for them.
struct Stated<'a> {
    order: &'a Order,
    sizes: &'a dyn BlockSizes,
    /// What each fragment block holds.
    fragment_lens: Vec<u32>,
}

impl Stated<'_> {
    fn word(&self, (item, block): (usize, u64), len_bytes: u32, stored_bytes: u32) -> BlockWord {
        let is_stored = self.order.encoding(item, block) == BlockEncoding::Stored;
        if stored_bytes == 0 {
            BlockWord::SPARSE
        } else if is_stored || stored_bytes >= len_bytes {
            BlockWord::new(len_bytes, false)
        } else {
            BlockWord::new(stored_bytes, true)
        }
    }
}

impl StatedBlocks for Stated<'_> {
    fn block(&mut self, block: &FileBlock) -> BlockWord {
        let FileBlock {
            item,
            file,
            number,
            len_bytes,
        } = *block;
        let stored_bytes = self.sizes.stored_bytes(file, number, len_bytes);
        self.word((item, number), len_bytes, stored_bytes)
    }

    fn fragment(&mut self, block: &FragmentBlock<'_>) -> BlockWord {
        let len_bytes = block.len_bytes;
        self.fragment_lens.push(len_bytes);
        let stored_bytes = self.sizes.fragment_bytes(block.members, len_bytes);
        self.word((block.item, 0), len_bytes, stored_bytes.max(1))
    }

    fn is_sparse(&self, file: NodeId) -> bool {
        self.sizes.is_sparse(file)
    }
}

#[cfg(test)]
pub(crate) mod tests;
