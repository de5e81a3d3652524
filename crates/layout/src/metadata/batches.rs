//! The cold part of both tables: children before parents, a batch of directories at a time.
//!
//! In a batch stand by height: the inodes of what the directories name, directory by directory in the
//! order of the names, and then their listings. Directories of height 0 name no directory of the
//! batch. So most of a batch depends on nothing in it, and its blocks can be compressed side by
//! side; and a listing, which begins a new run wherever its inodes go on in another block, has as few
//! runs as can be. The inode of a directory lies with those of its siblings.
//!
//! Directories with more than a batch below them come last, with their files: all paths lead
//! through them, and so they share a few blocks at the end of both tables, where the root is too.

use coldpress_format::BlockSize;

use super::{Directory, MetadataOrder, inode_bytes};
use crate::tree::{NodeId, Tree};

/// Bytes of inodes, before compression, after which a batch is full: 16 metadata blocks, and
/// about 10 of listings.
pub(super) const BATCH_BYTES: u64 = 128 << 10;

/// The height of what is in no batch.
const NOWHERE: (u32, u32) = (u32::MAX, 0);

/// The cold part while it is laid out.
pub(super) struct Batches<'a> {
    tree: &'a Tree,
    block_size: BlockSize,
    /// For each node whether it is hot.
    hot: &'a [bool],
    /// For each node whether it has its place, here or in the hot part.
    placed: Vec<bool>,
    order: MetadataOrder,
    /// Height and node of the directories of the batch.
    batch: Vec<(u32, NodeId)>,
    batch_bytes: u64,
    batch_number: u32,
    /// For each depth the batch and the height that a directory there has at least: what was
    /// placed below it says so.
    heights: Vec<(u32, u32)>,
}

impl<'a> Batches<'a> {
    pub(super) fn new(tree: &'a Tree, block_size: BlockSize, hot: &'a [bool]) -> Self {
        Self {
            tree,
            block_size,
            hot,
            placed: hot.to_vec(),
            order: MetadataOrder {
                inodes: Vec::new(),
                cold_inodes: 0,
                directories: Vec::new(),
                cold_directories: 0,
            },
            batch: Vec::new(),
            batch_bytes: 0,
            batch_number: 0,
            heights: Vec::new(),
        }
    }

    /// * `directories`: all, children before parents.
    pub(super) fn pack(mut self, directories: &[Directory]) -> MetadataOrder {
        let is_large = |directory: &Directory| directory.below_bytes > BATCH_BYTES;
        for large in [false, true] {
            let cold = directories
                .iter()
                .filter(|directory| !self.hot[directory.id.index()]);
            for directory in cold.filter(|it| is_large(it) == large) {
                self.place(directory);
            }
            self.end_batch();
        }
        // The hot part names these, wherever they are.
        for directory in directories
            .iter()
            .rev()
            .filter(|it| self.hot[it.id.index()])
        {
            self.place_entries(directory.id);
        }
        if !self.hot[NodeId::ROOT.index()] {
            self.order.inodes.push(NodeId::ROOT);
        }
        self.order
    }

    /// Takes a directory into the batch.
    fn place(&mut self, directory: &Directory) {
        let &Directory { id, depth, .. } = directory;
        let depth = usize::try_from(depth).expect("addresses have 32 bits or more");
        if self.heights.len() < depth + 2 {
            self.heights.resize(depth + 2, NOWHERE);
        }
        let (batch, height) = std::mem::replace(&mut self.heights[depth + 1], NOWHERE);
        let height = if batch == self.batch_number {
            height
        } else {
            0
        };
        let (batch, least) = self.heights[depth];
        let least = if batch == self.batch_number { least } else { 0 };
        self.heights[depth] = (self.batch_number, least.max(height + 1));
        self.batch.push((height, id));
        let inode_bytes =
            |(_, child): &(_, NodeId)| inode_bytes(&self.tree[*child], self.block_size);
        self.batch_bytes += self.tree.entries(id).iter().map(inode_bytes).sum::<u64>();
        if self.batch_bytes >= BATCH_BYTES {
            self.end_batch();
        }
    }

    fn end_batch(&mut self) {
        // Stable: within a height they stay in the order of the walk.
        self.batch.sort_by_key(|(height, _)| *height);
        for (_, id) in std::mem::take(&mut self.batch) {
            self.place_entries(id);
            self.order.directories.push(id);
        }
        self.batch_bytes = 0;
        self.batch_number += 1;
    }

    /// Places what a directory names, as far as it has no place.
    fn place_entries(&mut self, id: NodeId) {
        for &(_, child) in self.tree.entries(id) {
            if !std::mem::replace(&mut self.placed[child.index()], true) {
                self.order.inodes.push(child);
            }
        }
    }
}
