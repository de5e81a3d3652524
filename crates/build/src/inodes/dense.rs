//! Inodes and listings packed into full metadata blocks.

use coldpress_format::{
    Directory, IndexEntry, InodeRef, Listing, METADATA_BLOCK_SIZE, write_listing,
};
use coldpress_layout::NodeId;

use super::{Contents, InodeTables, Table, listing_bytes};
use crate::error::Error;
use crate::metadata::{self, Packed, split};
use crate::write::Options;

/// Rounds in which the sizes of directory inodes may go down again.
///
/// A directory's inode grows with its index, whose length depends on where its listing begins and
/// how its runs break, which depends on where inodes lie. Two or three rounds settle it; after
/// this many a size may only grow, which must end, and leaves unused bytes behind an inode.
const FREE_ROUNDS: u32 = 16;

pub(super) fn pack(contents: &mut Contents, options: &Options) -> Result<InodeTables, Error> {
    let leaves = Leaves::write(contents);
    let layout = Layout::settle(contents, &leaves)?;
    let mut stream = leaves.spaced(contents, &layout);
    let raw = layout.raw_blocks(contents, stream.len());
    let mut inodes = Packed::default();
    metadata::pack_where(&stream, |block| !raw[block], options, &mut inodes)?;

    let mut refs = Vec::with_capacity(layout.offsets.len());
    for offset in &layout.offsets {
        let (block_start, offset) = inodes.place(*offset);
        refs.push(InodeRef {
            block_start,
            offset,
        });
    }
    let listings = pack_listings(contents, &layout, &refs, options)?;
    for node in contents.directories() {
        let bytes = directory_inode(contents, node, &layout, &listings);
        layout.place(node, &bytes, &mut stream);
    }
    for (index, block) in stream
        .chunks(METADATA_BLOCK_SIZE)
        .enumerate()
        .filter(|(n, _)| raw[*n])
    {
        inodes.replace_raw(index, block);
    }
    Ok(InodeTables {
        inodes: whole(inodes.bytes),
        directories: whole(listings.bytes),
        refs,
    })
}

/// The inodes of everything but directories, whose content is known from the start.
struct Leaves {
    bytes: Vec<u8>,
    /// For each node where its inode begins in `bytes` and how long it is.
    extents: Vec<(usize, usize)>,
}

impl Leaves {
    fn write(contents: &mut Contents) -> Self {
        let mut leaves = Self {
            bytes: Vec::new(),
            extents: vec![(0, 0); contents.tree.nodes.len()],
        };
        for node in &contents.order.inodes {
            if !contents.tree.is_directory(*node) {
                let start = leaves.bytes.len();
                contents.leaf(*node).write(&mut leaves.bytes);
                leaves.extents[node.index()] = (start, leaves.bytes.len() - start);
            }
        }
        leaves
    }

    /// The inode table before compression, with zeros where directories go.
    fn spaced(&self, contents: &Contents, layout: &Layout) -> Vec<u8> {
        let mut stream = vec![0; usize::try_from(layout.inode_bytes).expect("it fits in memory")];
        for node in &contents.order.inodes {
            let (start, len) = self.extents[node.index()];
            layout.place(*node, &self.bytes[start..start + len], &mut stream);
        }
        stream
    }
}

fn whole(bytes: Vec<u8>) -> Table {
    Table {
        len_bytes: bytes.len() as u64,
        pieces: vec![(0, bytes)],
    }
}

/// Positions before compression.
struct Layout {
    /// For each node where its inode begins in the inode table.
    offsets: Vec<u64>,
    /// For each directory where its listing begins in the directory table.
    listing_offsets: Vec<u64>,
    /// For each directory the length of its listing and its marks.
    listings: Vec<(usize, Vec<(u32, usize)>)>,
    /// For each directory the bytes kept for its inode.
    sizes: Vec<u64>,
    /// Bytes of the inode table.
    inode_bytes: u64,
}

impl Layout {
    fn settle(contents: &Contents, leaves: &Leaves) -> Result<Self, Error> {
        let mut sizes = vec![0; contents.tree.nodes.len()];
        let mut round = 0;
        loop {
            let layout = Self::compute(contents, leaves, sizes.clone());
            sizes.clone_from(&layout.sizes);
            let mut settled = true;
            for node in contents.directories() {
                let needed = layout.inode_bytes(contents, node)?;
                let size = &mut sizes[node.index()];
                if needed > *size || needed < *size && round < FREE_ROUNDS {
                    *size = needed;
                    settled = false;
                }
            }
            if settled {
                return Ok(layout);
            }
            round += 1;
        }
    }

    /// Positions if directory inodes had these sizes.
    fn compute(contents: &Contents, leaves: &Leaves, sizes: Vec<u64>) -> Self {
        let mut offsets = vec![0; sizes.len()];
        let mut inode_bytes = 0;
        for node in &contents.order.inodes {
            offsets[node.index()] = inode_bytes;
            inode_bytes += sizes[node.index()] + leaves.extents[node.index()].1 as u64;
        }
        let mut listing_offsets = vec![0; sizes.len()];
        let mut listings = vec![(0, Vec::new()); sizes.len()];
        let mut next = 0;
        for node in &contents.order.directories {
            listing_offsets[node.index()] = next;
            // Runs break where the block changes, so its index serves for its start.
            let Listing { bytes, marks } = write_listing(
                &contents.entries(*node, |child| {
                    let (block, offset) = split(offsets[child.index()]);
                    let block_start = u32::try_from(block).unwrap_or(u32::MAX);
                    InodeRef {
                        block_start,
                        offset,
                    }
                }),
                next,
            );
            next += bytes.len() as u64;
            listings[node.index()] = (bytes.len(), marks);
        }
        Self {
            offsets,
            listing_offsets,
            listings,
            sizes,
            inode_bytes,
        }
    }

    /// Which metadata blocks hold a byte of a directory's inode.
    fn raw_blocks(&self, contents: &Contents, stream_len: usize) -> Vec<bool> {
        let mut raw = vec![false; stream_len.div_ceil(METADATA_BLOCK_SIZE)];
        for node in contents.directories() {
            let start = self.offsets[node.index()];
            let (first, _) = split(start);
            let (last, _) = split(start + self.sizes[node.index()] - 1);
            raw[first..=last].fill(true);
        }
        raw
    }

    /// Copies an inode to its place in the inode table.
    fn place(&self, node: NodeId, bytes: &[u8], stream: &mut [u8]) {
        let start = usize::try_from(self.offsets[node.index()]).expect("it fits in memory");
        stream[start..start + bytes.len()].copy_from_slice(bytes);
    }

    /// Bytes that a directory's inode takes with the listing that it has in this layout.
    fn inode_bytes(&self, contents: &Contents, node: NodeId) -> Result<u64, Error> {
        let (len, marks) = &self.listings[node.index()];
        let entries = contents.entries(node, |_| InodeRef {
            block_start: 0,
            offset: 0,
        });
        let index = marks.iter().map(|(listing_offset, first)| IndexEntry {
            listing_offset: *listing_offset,
            block_start: 0,
            name: entries[*first].name.clone(),
        });
        let directory = Directory {
            listing_bytes: listing_bytes(*len)?,
            index: index.take(INDEX_MAX).collect(),
            ..Directory::default()
        };
        let mut bytes = Vec::new();
        contents.directory(node, directory).write(&mut bytes);
        Ok(bytes.len() as u64)
    }
}

/// The most entries that an index can count.
const INDEX_MAX: usize = u16::MAX as usize;

fn pack_listings(
    contents: &Contents,
    layout: &Layout,
    refs: &[InodeRef],
    options: &Options,
) -> Result<Packed, Error> {
    let mut stream = Vec::new();
    for node in &contents.order.directories {
        let entries = contents.entries(*node, |child| refs[child.index()]);
        let listing = write_listing(&entries, layout.listing_offsets[node.index()]);
        stream.extend(listing.bytes);
    }
    let mut packed = Packed::default();
    metadata::pack(&stream, options, &mut packed)?;
    Ok(packed)
}

fn directory_inode(
    contents: &Contents,
    node: NodeId,
    layout: &Layout,
    listings: &Packed,
) -> Vec<u8> {
    let (len, marks) = &layout.listings[node.index()];
    let start = layout.listing_offsets[node.index()];
    let (block_start, offset) = listings.place(start);
    let entries = contents.entries(node, |_| InodeRef {
        block_start: 0,
        offset: 0,
    });
    let index = marks.iter().map(|(listing_offset, first)| IndexEntry {
        listing_offset: *listing_offset,
        block_start: listings.place(start + u64::from(*listing_offset)).0,
        name: entries[*first].name.clone(),
    });
    let directory = Directory {
        block_start,
        offset,
        listing_bytes: u32::try_from(*len).expect("checked while the layout settled"),
        parent: 0,
        index: index.take(INDEX_MAX).collect(),
    };
    let mut bytes = Vec::new();
    contents.directory(node, directory).write(&mut bytes);
    bytes
}
