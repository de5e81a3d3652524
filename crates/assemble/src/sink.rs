//! What takes the metadata blocks of an image.

use coldpress_format::Inode;
use coldpress_layout::NodeId;

use crate::error::TooMany;
use crate::inodes::PlacedListing;
use crate::metadata::BlockStarts;

/// The tables of an image, in the order in which they lie there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Inodes.
    Inodes,
    /// Directory listings.
    Directories,
    /// Where fragment blocks lie.
    Fragments,
    /// For each inode number where the inode lies.
    Export,
    /// Owners and groups.
    Ids,
    /// Names and values of extended attributes.
    XattrPairs,
    /// Where each set of extended attributes lies.
    XattrIds,
}

impl Table {
    /// Every table, in order.
    pub const ALL: [Self; 7] = [
        Self::Inodes,
        Self::Directories,
        Self::Fragments,
        Self::Export,
        Self::Ids,
        Self::XattrPairs,
        Self::XattrIds,
    ];
}

/// Metadata blocks that follow each other in a table.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The table.
    pub table: Table,
    /// What they hold. Every block but the last is full.
    pub content: &'a [u8],
    /// Bytes that a full block holds.
    pub block_bytes: usize,
    /// For each block whether it must not be compressed, from the first on; what is missing may be.
    pub uncompressed: &'a [bool],
}

impl<'a> Run<'a> {
    /// The content of each block, and whether it may be compressed.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = (&'a [u8], bool)> + use<'a> {
        let uncompressed = self.uncompressed;
        let blocks = self.content.chunks(self.block_bytes).enumerate();
        blocks.map(move |(block, content)| {
            let is_compressible = !uncompressed.get(block).copied().unwrap_or(false);
            (content, is_compressible)
        })
    }
}

/// What takes the metadata blocks of an image.
///
/// Blocks of the inode table and of the directory table come in turn, those of other tables one
/// table after the other. What is [placed](Self::place) or [appended](Self::append) follows the
/// data area in the order of these calls.
pub trait TableSink {
    /// Why it cannot go on.
    type Error: From<TooMany>;

    /// Takes the next blocks of a table, and pushes for each what it takes to `starts`.
    ///
    /// # Errors
    ///
    /// If the blocks cannot be compressed or written, or [`BlockStarts::push`] refuses one.
    fn take(&mut self, run: &Run<'_>, starts: &mut BlockStarts) -> Result<(), Self::Error>;

    /// Gives a block other content of the same length. It is not compressed, and not placed yet.
    ///
    /// * `block`: its number in the table.
    /// * `start`: where it begins, header included, from the start of the table.
    fn replace(&mut self, table: Table, block: usize, start: u32, content: &[u8]);

    /// The blocks of a table that were taken since the last time go into the image.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    fn place(&mut self, table: Table) -> Result<(), Self::Error>;

    /// Bytes that are in no metadata block go into the image.
    ///
    /// * `table`: the one that they belong to.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    fn append(&mut self, table: Table, bytes: &[u8]) -> Result<(), Self::Error>;

    /// An inode as it is written, once for each node.
    fn note_inode(&mut self, _node: NodeId, _inode: &Inode) {}

    /// A listing and its place, once for each directory.
    fn note_listing(&mut self, _directory: NodeId, _listing: &PlacedListing) {}
}
