//! The cold part of both tables: children before parents, a batch of directories at a time.
//!
//! In a batch stand first the inodes of all that is no directory, then by height the listings and
//! the inodes of the directories: those with no subdirectory in the batch, those above them, and
//! so on. So most of a batch depends on nothing in it, and its blocks can be compressed side by
//! side; a batch is small enough that a directory's inode, listing and files stay near each other.
//!
//! Directories with more than a batch below them come last, with their files: all paths lead
//! through them, and so they share a few blocks at the end of both tables, where the root is too.

use coldpress_format::BlockSize;

use super::{Directory, MetadataOrder, inode_bytes};
use crate::tree::{NodeId, Tree};

/// Bytes of inodes, before compression, after which a batch is full: 16 metadata blocks, and
/// about 10 of listings.
pub(super) const BATCH_BYTES: u64 = 128 << 10;

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
        for is_large in [false, true] {
            let cold = directories
                .iter()
                .filter(|directory| !self.hot[directory.id.index()]);
            for directory in cold.filter(|it| (it.below_bytes > BATCH_BYTES) == is_large) {
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
        self.order
    }

    fn place(&mut self, directory: &Directory) {
        let &Directory { id, depth, .. } = directory;
        let depth = usize::try_from(depth).expect("addresses have 32 bits or more");
        self.place_entries(id);
        if self.heights.len() < depth + 2 {
            self.heights.resize(depth + 2, (u32::MAX, 0));
        }
        let (batch, height) = std::mem::replace(&mut self.heights[depth + 1], (u32::MAX, 0));
        let height = if batch == self.batch_number {
            height
        } else {
            0
        };
        let (batch, least) = self.heights[depth];
        let least = if batch == self.batch_number { least } else { 0 };
        self.heights[depth] = (self.batch_number, least.max(height + 1));
        self.batch.push((height, id));
        self.batch_bytes += inode_bytes(&self.tree[id], self.block_size);
        if self.batch_bytes >= BATCH_BYTES {
            self.end_batch();
        }
    }

    /// Places the entries of a directory that are none themselves.
    fn place_entries(&mut self, id: NodeId) {
        for &(_, child) in self.tree.entries(id) {
            if !self.tree.is_directory(child)
                && !std::mem::replace(&mut self.placed[child.index()], true)
            {
                self.order.inodes.push(child);
                self.batch_bytes += inode_bytes(&self.tree[child], self.block_size);
            }
        }
    }

    fn end_batch(&mut self) {
        // Stable: within a height they stay in the order of the walk.
        self.batch.sort_by_key(|(height, _)| *height);
        let directories = self.batch.iter().map(|(_, id)| *id);
        self.order.directories.extend(directories.clone());
        self.order.inodes.extend(directories);
        self.batch.clear();
        self.batch_bytes = 0;
        self.batch_number += 1;
    }
}
