//! The tables of an image that is not built yet: what they take, and what lies where in them.

use std::collections::HashMap;

use coldpress_assemble::{
    Assembled, BlockStarts, MetadataLayout, PlacedListing, Run, SPREAD_CONTENT_BYTES, Table,
    TableSink, TooMany, listed_entries,
};
use coldpress_format::{BlockSize, Body, Inode, InodeRef, METADATA_BLOCK_SIZE, MetadataHeader};
use coldpress_layout::{NodeId, Tree};

use super::{BlockSizes, ImageOptions};
use crate::geometry::{
    DirectoryGeometry, Extent, FileGeometry, Geometry, InodeGeometry, InodeGeometryKind, Lookup,
    MetadataRange,
};
use crate::listing::searches;

#[expect(clippy::cast_possible_truncation, reason = "2 bytes")]
const HEADER_BYTES: u32 = MetadataHeader::SIZE as u32;

/// What the assembler makes of the tables, but for the bytes in them.
pub(super) struct Lengths<'a> {
    tree: &'a Tree,
    block_size: BlockSize,
    sizes: &'a dyn BlockSizes,
    /// For each table its blocks, which begin at bytes of the table.
    blocks: [Vec<Extent>; Table::ALL.len()],
    /// For each node its inode.
    inodes: Vec<NotedInode>,
    /// For each directory.
    listings: HashMap<NodeId, PlacedListing>,
}

/// An inode whose place is not known yet.
#[derive(Clone)]
struct NotedInode {
    fixed_bytes: u64,
    kind: InodeGeometryKind,
}

impl TableSink for Lengths<'_> {
    type Error = TooMany;

    fn take(&mut self, run: &Run<'_>, starts: &mut BlockStarts) -> Result<(), TooMany> {
        for (content, is_compressible) in run.blocks() {
            let block = starts.count();
            let len_bytes = u32::try_from(content.len()).unwrap_or(u32::MAX);
            let expected = self.sizes.metadata_bytes(run.table, block, len_bytes);
            let is_stored = !is_compressible || expected >= len_bytes;
            let body_bytes = if is_stored {
                len_bytes
            } else {
                expected.max(1)
            };
            self.blocks[run.table as usize].push(Extent {
                start_byte: starts.size_bytes(),
                stored_bytes: body_bytes + HEADER_BYTES,
                len_bytes,
                is_stored,
            });
            starts.push(u16::try_from(body_bytes).unwrap_or(u16::MAX))?;
        }
        Ok(())
    }

    fn replace(&mut self, _table: Table, _block: usize, _start: u32, _content: &[u8]) {}

    fn place(&mut self, _table: Table) -> Result<(), TooMany> {
        Ok(())
    }

    fn append(&mut self, _table: Table, _bytes: &[u8]) -> Result<(), TooMany> {
        Ok(())
    }

    fn note_inode(&mut self, node: NodeId, inode: &Inode) {
        let kind = match &inode.body {
            // Where its block list begins is known when the place of the inode is.
            Body::File(file) => {
                InodeGeometryKind::File(FileGeometry::new(file, self.block_size, (0, 0)))
            }
            Body::Directory(_) => InodeGeometryKind::Directory(DirectoryGeometry::default()),
            Body::Symlink(_) => InodeGeometryKind::Symlink,
            _ => InodeGeometryKind::Other,
        };
        self.inodes[node.index()] = NotedInode {
            fixed_bytes: inode.fixed_bytes(),
            kind,
        };
    }

    fn note_listing(&mut self, directory: NodeId, listing: &PlacedListing) {
        self.listings.insert(directory, listing.clone());
    }
}

impl<'a> Lengths<'a> {
    pub(super) fn new(tree: &'a Tree, block_size: BlockSize, sizes: &'a dyn BlockSizes) -> Self {
        let inode = NotedInode {
            fixed_bytes: 0,
            kind: InodeGeometryKind::Other,
        };
        Self {
            tree,
            block_size,
            sizes,
            blocks: <[Vec<Extent>; Table::ALL.len()]>::default(),
            inodes: vec![inode; tree.nodes.len()],
            listings: HashMap::new(),
        }
    }

    pub(super) fn geometry(
        mut self,
        options: &ImageOptions,
        fragments: Vec<Extent>,
        tables: &Assembled,
    ) -> Geometry {
        let is_spread = options.tables.metadata == MetadataLayout::Spread;
        let places = Places {
            block_bytes: if is_spread {
                SPREAD_CONTENT_BYTES as u64
            } else {
                METADATA_BLOCK_SIZE as u64
            },
            listings_first: self.blocks[Table::Inodes as usize].len(),
            tables,
        };
        let inodes = std::mem::take(&mut self.inodes);
        let located = inodes.into_iter().zip(&tables.refs).zip((0..).map(NodeId));
        let located = located
            .map(|((inode, at), node)| self.place(&places, node, inode, *at))
            .collect();
        let names = self.names(&places);
        let mut metadata = Vec::new();
        let mut first_of = |table: Table, start: u64| {
            let first = metadata.len();
            metadata.extend(self.blocks[table as usize].iter().map(|block| Extent {
                start_byte: start + block.start_byte,
                ..*block
            }));
            first
        };
        first_of(Table::Inodes, tables.inode_table_start);
        first_of(Table::Directories, tables.directory_table_start);
        let fragment_table = first_of(Table::Fragments, tables.fragments.start);
        let id_table = first_of(Table::Ids, tables.ids.start);
        Geometry {
            compressor: options.compressor,
            block_size: options.block_size,
            image_bytes: tables.end,
            places: located,
            names,
            fragment_table: (!fragments.is_empty()).then_some(fragment_table),
            fragments,
            metadata,
            id_table,
            hash_tree: None,
        }
    }

    fn place(
        &self,
        places: &Places<'_>,
        node: NodeId,
        inode: NotedInode,
        at: InodeRef,
    ) -> InodeGeometry {
        let NotedInode {
            fixed_bytes,
            mut kind,
        } = inode;
        let blocks = &self.blocks[Table::Inodes as usize];
        let first = blocks.partition_point(|block| block.start_byte < at.block_start.into());
        let begin = (first, u64::from(at.offset));
        match &mut kind {
            InodeGeometryKind::File(file) => file.list = places.further(begin, fixed_bytes),
            InodeGeometryKind::Directory(directory) => {
                if let Some(listing) = self.listings.get(&node) {
                    *directory = DirectoryGeometry {
                        listing: (listing.len_bytes > 0).then(|| {
                            let start = (places.listings_first, listing.start);
                            places.range(start, listing.len_bytes.into())
                        }),
                        is_indexed: listing.is_indexed(),
                    };
                }
            }
            InodeGeometryKind::Symlink | InodeGeometryKind::Other => {}
        }
        InodeGeometry {
            inode: places.range(begin, fixed_bytes),
            kind,
        }
    }

    /// What each path names.
    fn names(&self, places: &Places<'_>) -> HashMap<Vec<u8>, Lookup> {
        let paths = self.tree.paths();
        let root = Lookup {
            place: NodeId::ROOT.index(),
            search: None,
        };
        let mut names = HashMap::with_capacity(paths.len());
        names.insert(b"/".to_vec(), root);
        for (directory, listing) in &self.listings {
            let entries = self.tree.entries(*directory);
            let parent = match paths[directory.index()].as_slice() {
                b"/" => &b""[..],
                path => path,
            };
            let found = places.searches(self.tree, *directory, listing);
            for ((name, node), search) in entries.iter().zip(found) {
                let name_of = Lookup {
                    place: node.index(),
                    search: Some(search),
                };
                names.insert([parent, b"/", name].concat(), name_of);
            }
        }
        names
    }
}

/// From bytes of tables to blocks in [`Geometry::metadata`].
struct Places<'a> {
    /// What a full metadata block holds.
    block_bytes: u64,
    /// The first block of the directory table.
    listings_first: usize,
    tables: &'a Assembled,
}

impl Places<'_> {
    /// The block that holds a byte counted from a byte of another, and the byte in it.
    fn further(&self, (block, byte): (usize, u64), bytes: u64) -> (usize, u32) {
        let byte = byte + bytes;
        let blocks = usize::try_from(byte / self.block_bytes).unwrap_or(usize::MAX);
        let within = u32::try_from(byte % self.block_bytes).unwrap_or(u32::MAX);
        (block + blocks, within)
    }

    /// The blocks of so many bytes from one on.
    fn range(&self, start: (usize, u64), len_bytes: u64) -> MetadataRange {
        MetadataRange {
            first: self.further(start, 0).0,
            last: self.further(start, len_bytes.max(1) - 1).0,
        }
    }

    /// The blocks that are read to find each name of a directory.
    fn searches(
        &self,
        tree: &Tree,
        directory: NodeId,
        listing: &PlacedListing,
    ) -> Vec<MetadataRange> {
        let begun = self.further((self.listings_first, listing.start), 0);
        let inode = |node: NodeId| self.tables.refs[node.index()];
        let entries = listed_entries(tree, &self.tables.numbers, directory, inode);
        searches(begun, self.block_bytes, listing.is_indexed(), entries)
    }
}
