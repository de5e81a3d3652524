//! Where everything of the data area lies.

use std::collections::BTreeMap;

use coldpress_format::{BlockSize, BlockWord, File, Fragment, TailEnd};
use coldpress_layout::{Item, NodeId, Tree};

/// Files that have the data of others.
#[derive(Clone, Copy, Debug)]
pub struct Duplicates<'a> {
    /// Files with the same bytes as another, and that other.
    pub files: &'a BTreeMap<NodeId, NodeId>,
    /// Files whose tail end has the same bytes as that of another, and that other: the tail ends
    /// are shared where they are packed.
    pub tails: &'a BTreeMap<NodeId, NodeId>,
}

impl<'a> Duplicates<'a> {
    /// Those that a tree knows of.
    pub fn of(tree: &'a Tree) -> Self {
        Self {
            files: &tree.duplicates,
            tails: &tree.duplicate_tails,
        }
    }
}

/// Where everything of the data area lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataArea {
    /// For each node its data, as its inode states it; empty for what is not a file.
    pub files: Vec<File>,
    /// The fragment table.
    pub fragments: Vec<Fragment>,
    /// Bytes that sparse blocks save.
    pub sparse_bytes: u64,
    /// Image byte behind the last block.
    pub end: u64,
}

impl DataArea {
    /// An empty one.
    ///
    /// * `nodes`: how many nodes there are.
    /// * `start`: the image byte at which the next block will begin.
    pub fn new(nodes: usize, start: u64) -> Self {
        Self {
            files: vec![File::default(); nodes],
            fragments: Vec::new(),
            sparse_bytes: 0,
            end: start,
        }
    }

    /// Of an image that is added to.
    ///
    /// * `files`: for each node its data; of new files nothing.
    /// * `fragments`: the fragment table so far.
    /// * `start`: the image byte at which the next block will begin.
    pub fn behind(files: Vec<File>, fragments: Vec<Fragment>, start: u64) -> Self {
        Self {
            files,
            fragments,
            sparse_bytes: 0,
            end: start,
        }
    }

    /// Leaves bytes out before the next block.
    pub fn skip(&mut self, bytes: u64) {
        self.end += bytes;
    }

    /// Adds the next data block of a file.
    ///
    /// * `len_bytes`: what it holds.
    /// * `is_sparse`: whether the file takes less space in the source than it is long.
    pub fn push_block(&mut self, node: NodeId, word: BlockWord, len_bytes: u64, is_sparse: bool) {
        let file = &mut self.files[node.index()];
        if word.is_sparse() {
            self.sparse_bytes += len_bytes;
            // A file that takes all its bytes in the source keeps doing so for stat(2).
            if is_sparse {
                file.sparse_bytes += len_bytes;
            }
        } else if file.start == 0 {
            file.start = self.end;
        }
        file.blocks.push(word);
        self.end += u64::from(word.size_bytes());
    }

    /// Adds the next fragment block; nothing if it has no members.
    ///
    /// * `members`: whose tail ends it holds, and where each begins.
    pub fn push_fragment(&mut self, members: Vec<(NodeId, u32)>, word: BlockWord) {
        if members.is_empty() {
            return;
        }
        let fragment = u32::try_from(self.fragments.len()).expect("fewer fragments than inodes");
        for (node, offset) in members {
            self.files[node.index()].tail = Some(TailEnd { fragment, offset });
        }
        self.fragments.push(Fragment {
            start: self.end,
            size: word,
        });
        self.end += u64::from(word.size_bytes());
    }

    /// Gives a file the tail end of another.
    pub fn share_tail(&mut self, node: NodeId, original: NodeId) {
        self.files[node.index()].tail = self.files[original.index()].tail;
    }

    /// Gives a file all data of another.
    pub fn share(&mut self, node: NodeId, original: NodeId) {
        self.files[node.index()] = self.files[original.index()].clone();
    }

    /// Gives every file the length that the tree states.
    pub fn set_sizes(&mut self, tree: &Tree) {
        for (node, found) in tree.nodes.iter().enumerate() {
            if let Some(size_bytes) = found.size_bytes() {
                self.files[node].size_bytes = size_bytes;
            }
        }
    }

    /// Shortens a file to what could be read of it.
    pub fn cut(&mut self, node: NodeId, size_bytes: u64, block_size: BlockSize) {
        let file = &mut self.files[node.index()];
        if size_bytes >= file.size_bytes {
            return;
        }
        let tail_start = file.size_bytes - u64::from(block_size.tail_bytes(file.size_bytes));
        if file.tail.is_some() && size_bytes <= tail_start {
            file.tail = None;
        }
        file.size_bytes = size_bytes;
        if file.tail.is_none() {
            let count = size_bytes.div_ceil(block_size.bytes().into());
            file.blocks
                .truncate(usize::try_from(count).unwrap_or(usize::MAX));
        }
        if file.blocks.is_empty() {
            file.start = 0;
        }
    }

    /// Limits what sparse blocks save of each file: the kernel takes `st_blocks` from the
    /// difference, which must not be 0.
    pub fn limit_sparse(&mut self) {
        for file in &mut self.files {
            file.sparse_bytes = file.sparse_bytes.min(file.size_bytes.saturating_sub(1));
        }
    }
}

/// Bytes of a file that are in blocks of its own.
///
/// * `is_packed`: whether its tail end is in a fragment block.
pub fn own_bytes(size_bytes: u64, is_packed: bool, block_size: BlockSize) -> u64 {
    if is_packed {
        size_bytes - u64::from(block_size.tail_bytes(size_bytes))
    } else {
        size_bytes
    }
}

/// For each node whether its tail end is in a fragment block.
///
/// * `nodes`: how many nodes there are.
pub fn packed_tails(nodes: usize, items: &[Item], duplicates: Duplicates<'_>) -> Vec<bool> {
    let mut packed = vec![false; nodes];
    for item in items {
        if let Item::Fragment(members) = item {
            for node in members {
                packed[node.index()] = true;
            }
        }
    }
    for (node, tail) in duplicates.tails {
        packed[node.index()] |= packed[tail.index()];
    }
    packed
}
