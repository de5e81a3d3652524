//! The data area of an image that is not written: what its blocks take is stated.

use coldpress_format::{BlockSize, BlockWord};
use coldpress_layout::{Item, NodeId, Order, Tree};

use crate::data::{DataArea, Duplicates, own_bytes, packed_tails};

/// A data block of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileBlock {
    /// The place of its item in [`Order::data`].
    pub item: usize,
    /// The file; of duplicates the one whose data serves for all.
    pub file: NodeId,
    /// Its number in the file. A tail end that is in no fragment block is behind the last full
    /// block.
    pub number: u64,
    /// What it holds.
    pub len_bytes: u32,
}

/// A fragment block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentBlock<'a> {
    /// The place of its item in [`Order::data`].
    pub item: usize,
    /// Its index in the fragment table.
    pub index: usize,
    /// The files whose tail ends it holds.
    pub members: &'a [NodeId],
    /// What it holds.
    pub len_bytes: u32,
}

/// What the blocks of an image take that is not written.
pub trait StatedBlocks {
    /// What a data block takes.
    fn block(&mut self, block: &FileBlock) -> BlockWord;
    /// What a fragment block takes, which is never sparse.
    fn fragment(&mut self, block: &FragmentBlock<'_>) -> BlockWord;
    /// Whether a file takes less space in the source than it is long.
    fn is_sparse(&self, file: NodeId) -> bool;
}

impl DataArea {
    /// What the writer makes of a tree if the blocks take what is stated.
    ///
    /// * `start`: the image byte at which the data area begins.
    pub fn stated(
        tree: &Tree,
        order: &Order,
        duplicates: Duplicates<'_>,
        block_size: BlockSize,
        start: u64,
        blocks: &mut impl StatedBlocks,
    ) -> Self {
        let packed = packed_tails(tree.nodes.len(), &order.data, duplicates);
        let mut area = Self::new(tree.nodes.len(), start);
        for (item, stored) in order.data.iter().enumerate() {
            match stored {
                Item::Blocks(file) => {
                    let size_bytes = tree.file_size(*file).unwrap_or(0);
                    let end = own_bytes(size_bytes, packed[file.index()], block_size);
                    let is_sparse = blocks.is_sparse(*file);
                    let full = block_size.full_blocks(end);
                    let rest = block_size.tail_bytes(end);
                    for number in 0..full + u64::from(rest > 0) {
                        let len_bytes = if number < full {
                            block_size.bytes()
                        } else {
                            rest
                        };
                        let word = blocks.block(&FileBlock {
                            item,
                            file: *file,
                            number,
                            len_bytes,
                        });
                        area.push_block(*file, word, len_bytes.into(), is_sparse);
                    }
                }
                Item::Fragment(members) => {
                    let mut len_bytes = 0;
                    let tail = |node: &NodeId| {
                        let begin = len_bytes;
                        len_bytes += block_size.tail_bytes(tree.file_size(*node).unwrap_or(0));
                        (*node, begin)
                    };
                    let tails = members.iter().map(tail).collect();
                    let word = blocks.fragment(&FragmentBlock {
                        item,
                        index: area.fragments.len(),
                        members,
                        len_bytes,
                    });
                    area.push_fragment(tails, word);
                }
            }
        }
        for (node, original) in duplicates.tails {
            if packed[node.index()] {
                area.share_tail(*node, *original);
            }
        }
        area.set_sizes(tree);
        for (node, original) in duplicates.files {
            area.share(*node, *original);
        }
        area.limit_sparse();
        area
    }
}
