//! The hot part of both tables, in any order.
//!
//! Metadata blocks that hold a byte of a directory's inode are stored as they are, so that their
//! size is known before their content is. That gives the places of all inodes, these the listings,
//! and their places last the inodes of directories.

use std::collections::HashMap;

use coldpress_format::{Inode, METADATA_BLOCK_SIZE};
use coldpress_layout::NodeId;

use super::dense::{Place, PlacedListing, Tables, place_listing};
use crate::error::TooMany;
use crate::metadata::split;
use crate::sink::{Table, TableSink};

/// Rounds in which the sizes of directory inodes may go down again.
///
/// A directory's inode grows with its index, whose length depends on where its listing begins and
/// how its runs break, which depends on where inodes lie. Two or three rounds settle it; after
/// this many a size may only grow, which must end, and leaves unused bytes behind an inode.
const FREE_ROUNDS: u32 = 16;

/// Packs what the cold part has left of both tables and the hot part behind it.
pub(super) fn pack<S: TableSink>(tables: &mut Tables<S>) -> Result<(), S::Error> {
    let hot = Hot::write_leaves(tables).settle(tables)?;
    let stored = hot.append_spaced(tables);
    let inodes = tables.inodes.finish(&stored, tables.sink)?;

    let pending = &mut tables.listings.pending;
    pending.resize(pending.len() + hot.padding_bytes, 0);
    for node in hot.directories {
        let start = tables.listings.len_bytes();
        let (places, inodes) = (&tables.places, &tables.inodes);
        let entries = tables
            .contents
            .entries(*node, |child| places[child.index()].on_disk(inodes));
        let listing = place_listing(entries, start, &mut tables.listings.pending)?;
        tables.sink.note_listing(*node, &listing);
    }
    tables.listings.finish(&[], tables.sink)?;
    hot.fill_in(tables, inodes, &stored);
    Ok(())
}

/// The hot part before compression.
struct Hot<'a> {
    nodes: &'a [NodeId],
    directories: &'a [NodeId],
    /// The inodes of everything but directories.
    leaves: Vec<u8>,
    /// For each of `nodes` the bytes of its inode: for directories those that are kept for it.
    lens: Vec<u32>,
    /// For each directory.
    listings: HashMap<NodeId, PlacedListing>,
    /// Unused bytes in front of the listings.
    padding_bytes: usize,
}

impl<'a> Hot<'a> {
    /// Writes the inodes whose content is known from the start.
    fn write_leaves<S: TableSink>(tables: &mut Tables<'_, 'a, '_, S>) -> Self {
        let order = tables.contents.order;
        let mut hot = Self {
            nodes: &order.inodes[order.cold_inodes..],
            directories: &order.directories[order.cold_directories..],
            leaves: Vec::new(),
            lens: Vec::new(),
            listings: HashMap::new(),
            padding_bytes: 0,
        };
        for node in hot.nodes {
            let start = hot.leaves.len();
            if !tables.contents.tree.is_directory(*node) {
                let inode = tables.contents.leaf(*node);
                tables.sink.note_inode(*node, &inode);
                inode.write(&mut hot.leaves);
            }
            hot.lens.push(inode_len(hot.leaves.len() - start));
        }
        hot
    }

    /// Computes places until the sizes of directory inodes stay.
    fn settle<S: TableSink>(mut self, tables: &mut Tables<S>) -> Result<Self, TooMany> {
        let mut round = 0;
        self.compute(tables)?;
        self.padding_bytes = self.padding(tables.listings.len_bytes());
        loop {
            self.compute(tables)?;
            let mut settled = true;
            for (node, len) in self.nodes.iter().zip(&mut self.lens) {
                let Some(listing) = self.listings.get(node) else {
                    continue;
                };
                let mut inode = Vec::new();
                directory_inode(tables, *node, listing, |_| (0, 0)).write(&mut inode);
                let needed = inode_len(inode.len());
                if needed > *len || needed < *len && round < FREE_ROUNDS {
                    *len = needed;
                    settled = false;
                }
            }
            if settled {
                return Ok(self);
            }
            round += 1;
        }
    }

    /// Bytes to leave out at the end of the cold listings, if the hot ones then lie in a block
    /// less. The kernel caches 8 metadata blocks, so a start reads each of more than that
    /// several times: python3 with eight packages takes 234 reads with 10 of them, 260 with 11.
    fn padding(&self, start: u64) -> usize {
        let lens = self.listings.values().map(|it| it.len_bytes as usize);
        let (len, (_, within)) = (lens.sum::<usize>(), split(start));
        let within = usize::from(within);
        let blocks = |len: usize| len.div_ceil(METADATA_BLOCK_SIZE);
        if len > 0 && blocks(within + len) > blocks(len) {
            METADATA_BLOCK_SIZE - within
        } else {
            0
        }
    }

    /// Places inodes of the lengths so far, and listings that name these places.
    fn compute<S: TableSink>(&mut self, tables: &mut Tables<S>) -> Result<(), TooMany> {
        let mut start = tables.inodes.len_bytes();
        for (node, len) in self.nodes.iter().zip(&self.lens) {
            tables.places[node.index()] = Place::new(start);
            start += u64::from(*len);
        }
        let mut start = tables.listings.len_bytes() + self.padding_bytes as u64;
        let mut scratch = Vec::new();
        for node in self.directories {
            scratch.clear();
            let places = &tables.places;
            let entries = tables
                .contents
                .entries(*node, |child| places[child.index()].in_stream());
            let listing = place_listing(entries, start, &mut scratch)?;
            start += u64::from(listing.len_bytes);
            self.listings.insert(*node, listing);
        }
        Ok(())
    }

    /// Appends the inodes, with zeros for those of directories. Returns for each pending block
    /// whether it holds one of these.
    fn append_spaced<S: TableSink>(&self, tables: &mut Tables<S>) -> Vec<bool> {
        let pending = &mut tables.inodes.pending;
        let mut leaves = self.leaves.as_slice();
        let mut directories = Vec::new();
        for (node, len) in self.nodes.iter().zip(&self.lens) {
            let (start, end) = (pending.len(), pending.len() + *len as usize);
            if self.listings.contains_key(node) {
                directories.push((start, end));
                pending.resize(end, 0);
            } else {
                let (leaf, rest) = leaves.split_at(*len as usize);
                pending.extend(leaf);
                leaves = rest;
            }
        }
        let mut stored = vec![false; pending.len().div_ceil(METADATA_BLOCK_SIZE)];
        for (start, end) in directories {
            stored[start / METADATA_BLOCK_SIZE..=(end - 1) / METADATA_BLOCK_SIZE].fill(true);
        }
        stored
    }

    /// Writes the inodes of directories into the stored blocks, which are packed by now.
    ///
    /// * `pending`: what was packed last.
    fn fill_in<S: TableSink>(&self, tables: &mut Tables<S>, mut pending: Vec<u8>, stored: &[bool]) {
        let first_block = tables.inodes.packed.count() - stored.len();
        for node in self.directories {
            let place = tables.places[node.index()];
            let listing = &self.listings[node];
            let inode = directory_inode(tables, *node, listing, |offset| {
                tables.listings.packed.place(offset)
            });
            tables.sink.note_inode(*node, &inode);
            let mut bytes = Vec::new();
            inode.write(&mut bytes);
            let start = place.stream_offset() - first_block * METADATA_BLOCK_SIZE;
            pending[start..start + bytes.len()].copy_from_slice(&bytes);
        }
        let blocks = pending.chunks(METADATA_BLOCK_SIZE).zip(first_block..);
        for ((content, block), _) in blocks.zip(stored).filter(|(_, stored)| **stored) {
            let start = tables.inodes.packed.start(block);
            tables.sink.replace(Table::Inodes, block, start, content);
        }
    }
}

fn directory_inode<S: TableSink>(
    tables: &Tables<S>,
    node: NodeId,
    listing: &PlacedListing,
    place: impl Fn(u64) -> (u32, u16),
) -> Inode {
    let body = tables.body(node, listing, place);
    tables.contents.directory(node, body)
}

fn inode_len(len: usize) -> u32 {
    u32::try_from(len).expect("a block list or an index of 4 GiB is refused before")
}
