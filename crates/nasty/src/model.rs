//! An image as values.

use coldpress_format::{BlockWord, Fragment};

use crate::node::Node;
use crate::packing::{Packing, pack};

/// The values that an image is made of.
#[derive(Clone, Debug)]
pub struct Model {
    /// How blocks are packed.
    pub packing: Packing,
    /// The inodes; the first is the root.
    pub nodes: Vec<Node>,
    /// The data area.
    pub data: Vec<u8>,
    /// The fragment blocks in it.
    pub fragments: Vec<Fragment>,
    /// User and group ids.
    pub ids: Vec<u32>,
    /// Pairs of xattrs as they lie in the table, before it is packed; empty for no table.
    pub pairs: Vec<u8>,
    /// The sets of them: first byte, and number of pairs.
    pub xattr_sets: Vec<(u64, u32)>,
}

impl Model {
    /// A model without anything, which is not yet an image: it needs a root.
    pub fn new(packing: Packing) -> Self {
        Self {
            packing,
            nodes: Vec::new(),
            data: Vec::new(),
            fragments: Vec::new(),
            ids: vec![0],
            pairs: Vec::new(),
            xattr_sets: Vec::new(),
        }
    }

    /// Image byte behind the data area.
    pub fn data_end(&self) -> u64 {
        self.packing.data_start() + self.data.len() as u64
    }

    /// Appends a data or fragment block to the data area; returns its word.
    pub fn add_block(&mut self, content: &[u8]) -> BlockWord {
        let (bytes, is_compressed) = pack(&mut self.packing.encoder(), content);
        self.data.extend_from_slice(&bytes);
        let size_bytes = u32::try_from(bytes.len()).expect("a block has at most 1 MiB");
        BlockWord::new(size_bytes, is_compressed)
    }

    /// Appends a fragment block.
    pub fn add_fragment(&mut self, content: &[u8]) {
        let start = self.data_end();
        let size = self.add_block(content);
        self.fragments.push(Fragment { start, size });
    }
}
