//! The metadata of an image that is not built yet, as the writer would pack it.

use std::collections::HashMap;

use coldpress_format::{BlockSize, Compressor, METADATA_BLOCK_SIZE};
use coldpress_layout::{Kind, NodeId, Order, Tree};

use super::{BlockSizes, Data};
use crate::geometry::{
    DirectoryPlace, Extent, FilePlace, Geometry, MetadataRange, Name, Place, PlaceKind,
};
use crate::listing::{ListedName, searches};

const BLOCK_BYTES: u64 = METADATA_BLOCK_SIZE as u64;
/// Bytes of inodes in their basic and extended forms, without what follows: block lists, indexes, targets.
const FILE_BYTES: u64 = 32;
const EXTENDED_FILE_BYTES: u64 = 56;
const DIRECTORY_BYTES: u64 = 32;
const EXTENDED_DIRECTORY_BYTES: u64 = 40;
const OTHER_BYTES: u64 = 24;
/// An entry of a directory index with a name of usual length.
const INDEX_ENTRY_BYTES: u64 = 32;
const WORD_BYTES: u64 = 4;
const FRAGMENT_BYTES: u64 = 16;
const EXPORT_BYTES: u64 = 8;
const HEADER_BYTES: u32 = 2;

/// By directory: where its listing begins and ends in the directory table before compression.
type Listings = HashMap<NodeId, (u64, u64)>;

/// The tables while they are laid out.
pub(super) struct Tables<'a> {
    tree: &'a Tree,
    order: &'a Order,
    sizes: &'a dyn BlockSizes,
    data: Data,
    /// By node: where its inode begins and ends in the inode table before compression, and its number.
    inodes: Vec<(u64, u64)>,
    numbers: Vec<u32>,
    metadata: Vec<Extent>,
    end: u64,
}

impl<'a> Tables<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        order: &'a Order,
        data: Data,
        sizes: &'a dyn BlockSizes,
    ) -> Self {
        let mut tables = Self {
            tree,
            order,
            sizes,
            inodes: vec![(0, 0); tree.nodes.len()],
            numbers: vec![0; tree.nodes.len()],
            metadata: Vec::new(),
            end: data.end,
            data,
        };
        tables.place_inodes();
        tables
    }

    pub(super) fn geometry(mut self, compressor: Compressor, block_size: BlockSize) -> Geometry {
        let listings_start = self.metadata.len();
        let (names, listings) = self.place_listings();
        let fragments = self.data.fragments.len() as u64;
        let fragment_table = (fragments > 0).then_some(self.metadata.len());
        self.append_table(fragments * FRAGMENT_BYTES, |_| false);
        self.end += self.tree.nodes.len() as u64 * EXPORT_BYTES / 4;
        let id_table = self.metadata.len();
        self.append_table(WORD_BYTES, |_| true);
        let nodes = (0..).map(NodeId).take(self.tree.nodes.len());
        let places = nodes.map(|node| self.place(node, listings_start, &listings));
        Geometry {
            compressor,
            block_size,
            image_bytes: self.end,
            places: places.collect(),
            names,
            fragments: self.data.fragments.clone(),
            metadata: self.metadata,
            fragment_table,
            id_table,
        }
    }

    fn place_inodes(&mut self) {
        let mut end = 0;
        let mut stored = Vec::new();
        let hot = self.order.cold_inodes;
        for ((at, node), number) in self.order.inodes.iter().enumerate().zip(1..) {
            let start = end;
            end += self.inode_bytes(*node);
            if let (Some(inode), Some(place)) = (
                self.inodes.get_mut(node.index()),
                self.numbers.get_mut(node.index()),
            ) {
                *inode = (start, end);
                *place = number;
            }
            // The writer stores these blocks, to know their sizes before their content.
            if at >= hot && self.tree.is_directory(*node) {
                stored.extend(start / BLOCK_BYTES..=(end - 1) / BLOCK_BYTES);
            }
        }
        self.append_table(end, |block| stored.binary_search(&block).is_ok());
    }

    fn inode_bytes(&self, node: NodeId) -> u64 {
        let is_plain = self.tree[node].xattrs.is_empty();
        match &self.tree[node].kind {
            Kind::File { size_bytes } => {
                let blocks = self.blocks_of(node).len() as u64;
                let is_basic = is_plain && *size_bytes <= u32::MAX.into();
                let fixed_bytes = if is_basic {
                    FILE_BYTES
                } else {
                    EXTENDED_FILE_BYTES
                };
                fixed_bytes + blocks * WORD_BYTES
            }
            Kind::Directory { entries } => {
                let indexed = indexed_blocks(entries);
                if indexed == 0 && is_plain {
                    DIRECTORY_BYTES
                } else {
                    EXTENDED_DIRECTORY_BYTES + indexed * INDEX_ENTRY_BYTES
                }
            }
            Kind::Symlink { target } => OTHER_BYTES + target.len() as u64,
            _ => OTHER_BYTES,
        }
    }

    fn blocks_of(&self, node: NodeId) -> &[Extent] {
        let blocks = self.data.blocks.get(self.tree.data_of(node).index());
        blocks.map_or(&[], Vec::as_slice)
    }

    /// Lays out listings; returns what each path names, and where in the directory table each directory's listing begins and ends.
    fn place_listings(&mut self) -> (HashMap<Vec<u8>, Name>, Listings) {
        let first = self.metadata.len();
        let paths = self.tree.paths();
        let root = Name {
            place: NodeId::ROOT.index(),
            search: None,
        };
        let mut names = HashMap::from([(b"/".to_vec(), root)]);
        let mut listings = Listings::new();
        let mut end = 0_u64;
        for directory in &self.order.directories {
            let entries = self.tree.entries(*directory);
            let listed = entries.iter().map(|(name, node)| ListedName {
                name_bytes: name.len(),
                inode_block: self.inodes[node.index()].0 / BLOCK_BYTES,
                number: self.numbers[node.index()],
            });
            let (block, offset) = split(end);
            let begun = (first + block, offset);
            let is_indexed = indexed_blocks(entries) > 0;
            let (found, len_bytes) = searches(begun, is_indexed, listed);
            listings.insert(*directory, (end, end + len_bytes));
            end += len_bytes;
            let path = match paths[directory.index()].as_slice() {
                b"/" => &b""[..],
                path => path,
            };
            for ((name, node), search) in entries.iter().zip(found) {
                let name_of = Name {
                    place: node.index(),
                    search: Some(search),
                };
                names.insert([path, b"/", name].concat(), name_of);
            }
        }
        self.append_table(end, |_| false);
        (names, listings)
    }

    fn place(&self, node: NodeId, listings_start: usize, listings: &Listings) -> Place {
        let (start, mut end) = self.inodes[node.index()];
        let kind = match &self.tree[node].kind {
            Kind::File { size_bytes } => {
                let blocks = self.blocks_of(node);
                end -= blocks.len() as u64 * WORD_BYTES;
                PlaceKind::File(FilePlace {
                    size_bytes: *size_bytes,
                    blocks: blocks.to_vec(),
                    fragment: self.data.tails[self.tree.tail_of(node).index()],
                    list: split(end),
                    executable: Vec::new(),
                })
            }
            Kind::Directory { entries } => {
                let listing = listings.get(&node).filter(|(start, end)| start < end);
                PlaceKind::Directory(DirectoryPlace {
                    listing: listing.map(|(start, end)| range(listings_start, *start, *end)),
                    is_indexed: indexed_blocks(entries) > 0,
                })
            }
            Kind::Symlink { .. } => PlaceKind::Symlink,
            _ => PlaceKind::Other,
        };
        Place {
            inode: range(0, start, end),
            kind,
        }
    }

    /// Appends a table of so many bytes in metadata blocks.
    fn append_table(&mut self, len_bytes: u64, is_stored: impl Fn(u64) -> bool) {
        for block in 0..len_bytes.div_ceil(BLOCK_BYTES) {
            let rest = (len_bytes - block * BLOCK_BYTES).min(BLOCK_BYTES);
            let len = u32::try_from(rest).unwrap_or(u32::MAX);
            let packed = self.sizes.metadata_bytes(len);
            let is_stored = is_stored(block) || packed >= len;
            let body_bytes = if is_stored { len } else { packed };
            let extent = Extent {
                start_byte: self.end,
                stored_bytes: body_bytes + HEADER_BYTES,
                len_bytes: len,
                is_stored,
            };
            self.end = extent.end();
            self.metadata.push(extent);
        }
    }
}

/// How many metadata blocks of its listing the index of a directory names.
fn indexed_blocks(entries: &[(Vec<u8>, NodeId)]) -> u64 {
    let names = entries.iter().map(|(name, _)| name.len() as u64 + 8);
    names.sum::<u64>() / BLOCK_BYTES
}

/// The metadata block that holds a byte of a table, and the byte in it.
fn split(byte: u64) -> (usize, u32) {
    let block = usize::try_from(byte / BLOCK_BYTES).unwrap_or(usize::MAX);
    (block, u32::try_from(byte % BLOCK_BYTES).unwrap_or(0))
}

/// The blocks of a table that hold the bytes from `start` to before `end`.
fn range(first: usize, start: u64, end: u64) -> MetadataRange {
    MetadataRange {
        first: first + split(start).0,
        last: first + split(end.max(start + 1) - 1).0,
    }
}
