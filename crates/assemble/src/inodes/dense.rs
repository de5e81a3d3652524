//! Inodes and listings packed into full metadata blocks: first the cold part, then the hot one.

use std::collections::HashMap;

use coldpress_format::{Directory, IndexEntry, InodeRef, METADATA_BLOCK_SIZE, append_listing};
use coldpress_layout::NodeId;

use super::{Contents, InodeTables, hot, listing_bytes};
use crate::error::TooMany;
use crate::metadata::{Stream, split};
use crate::sink::{Table, TableSink};

/// Bytes that wait in memory before they are packed, if nothing needs to know their place earlier:
/// enough blocks for many threads.
const PENDING_BYTES: usize = 1 << 20;
/// The most entries that an index can count.
const INDEX_MAX: usize = u16::MAX as usize;

pub(super) fn pack<S: TableSink>(
    contents: &mut Contents,
    start: u64,
    sink: &mut S,
) -> Result<InodeTables, S::Error> {
    let mut tables = Tables {
        places: vec![Place::UNKNOWN; contents.tree.nodes.len()],
        inodes: Stream::new(Table::Inodes),
        listings: Stream::new(Table::Directories),
        contents,
        sink,
    };
    tables.pack_cold()?;
    hot::pack(&mut tables)?;
    tables.sink.place(Table::Inodes)?;
    tables.sink.place(Table::Directories)?;
    let directory_table_start = start + tables.inodes.packed.size_bytes();
    let end = directory_table_start + tables.listings.packed.size_bytes();
    let (places, inodes) = (tables.places, &tables.inodes);
    Ok(InodeTables {
        inode_table_start: start,
        directory_table_start,
        end,
        refs: places
            .into_iter()
            .map(|place| place.on_disk(inodes))
            .collect(),
    })
}

/// Where an inode begins in the inode table before compression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The index of the metadata block.
    block: u32,
    offset: u16,
}

impl Place {
    /// Of an inode that was not written yet.
    pub(super) const UNKNOWN: Self = Self {
        block: u32::MAX,
        offset: 0,
    };

    pub(super) fn new(offset: u64) -> Self {
        let (block, offset) = split(offset);
        // So many blocks take more than 4 GiB, which is refused when they are packed.
        let block = u32::try_from(block).unwrap_or(u32::MAX - 1);
        Self { block, offset }
    }

    /// The reference, once the blocks before are packed.
    pub(super) fn on_disk(self, inodes: &Stream) -> InodeRef {
        InodeRef {
            block_start: inodes.packed.start(self.block as usize),
            offset: self.offset,
        }
    }

    /// Bytes before it in the inode table, before compression.
    pub(super) fn stream_offset(self) -> usize {
        self.block as usize * METADATA_BLOCK_SIZE + usize::from(self.offset)
    }

    /// A reference that differs from others as the one on disk will.
    pub(super) fn in_stream(self) -> InodeRef {
        InodeRef {
            block_start: self.block,
            offset: self.offset,
        }
    }
}

/// A listing that has its place in the directory table before compression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedListing {
    /// Bytes before it in the directory table.
    pub start: u64,
    /// Bytes of it.
    pub len_bytes: u32,
    /// Where an index may point: bytes of the listing and the entries there.
    marks: Vec<(u32, usize)>,
}

impl PlacedListing {
    /// A listing without an index.
    pub(super) fn without_index(start: u64, len_bytes: u32) -> Self {
        let marks = Vec::new();
        Self {
            start,
            len_bytes,
            marks,
        }
    }

    /// Whether its directory has an index.
    pub fn is_indexed(&self) -> bool {
        !self.marks.is_empty()
    }
}

/// Both tables while they grow.
pub(super) struct Tables<'c, 'a, 's, S> {
    pub(super) contents: &'c mut Contents<'a>,
    /// For each node.
    pub(super) places: Vec<Place>,
    pub(super) inodes: Stream,
    pub(super) listings: Stream,
    pub(super) sink: &'s mut S,
}

impl<S: TableSink> Tables<'_, '_, '_, S> {
    /// Packs the cold part. Whatever an inode or a listing there refers to lies in front of it, so
    /// its place is known as soon as the full blocks are packed.
    fn pack_cold(&mut self) -> Result<(), S::Error> {
        let order = self.contents.order;
        let mut listings = &order.directories[..order.cold_directories];
        let mut listed = HashMap::new();
        for node in &order.inodes[..order.cold_inodes] {
            if self.contents.tree.is_directory(*node) {
                if !listed.contains_key(node) {
                    self.inodes.flush(self.sink)?;
                    listings = self.list(*node, listings, &mut listed)?;
                    self.listings.flush(self.sink)?;
                }
                let listing = listed.remove(node).expect("a law of orders");
                self.places[node.index()] = Place::new(self.inodes.len_bytes());
                let body = self.body(*node, &listing, |offset| self.listings.packed.place(offset));
                let inode = self.contents.directory(*node, body);
                self.sink.note_inode(*node, &inode);
                inode.write(&mut self.inodes.pending);
            } else {
                self.places[node.index()] = Place::new(self.inodes.len_bytes());
                let inode = self.contents.leaf(*node);
                self.sink.note_inode(*node, &inode);
                inode.write(&mut self.inodes.pending);
            }
            if self.inodes.pending.len() >= PENDING_BYTES {
                self.inodes.flush(self.sink)?;
                self.sink.place(Table::Inodes)?;
            }
        }
        self.inodes.flush(self.sink)?;
        self.sink.place(Table::Inodes)
    }

    /// Writes listings up to that of `node`, and further as long as what they name has its place:
    /// the more at once, the more blocks can be compressed in parallel. Returns the rest.
    fn list<'l>(
        &mut self,
        node: NodeId,
        mut listings: &'l [NodeId],
        listed: &mut HashMap<NodeId, PlacedListing>,
    ) -> Result<&'l [NodeId], S::Error> {
        while let Some((next, rest)) = listings.split_first() {
            let is_placed = |(_, child): &(_, NodeId)| self.places[child.index()] != Place::UNKNOWN;
            if listed.contains_key(&node)
                && !self.contents.tree.entries(*next).iter().all(is_placed)
            {
                break;
            }
            let start = self.listings.len_bytes();
            let inodes = &self.inodes;
            let entries = self
                .contents
                .entries(*next, |child| self.places[child.index()].on_disk(inodes));
            let pending = &mut self.listings.pending;
            let listing = place_listing(entries, start, pending)?;
            self.sink.note_listing(*next, &listing);
            listed.insert(*next, listing);
            if self.listings.pending.len() >= PENDING_BYTES {
                self.listings.flush(self.sink)?;
            }
            listings = rest;
        }
        Ok(listings)
    }

    /// The body of a directory's inode.
    ///
    /// * `place`: where a byte of the directory table lies on disk.
    pub(super) fn body(
        &self,
        node: NodeId,
        listing: &PlacedListing,
        place: impl Fn(u64) -> (u32, u16),
    ) -> Directory {
        let entries = self.contents.tree.entries(node);
        let index = listing
            .marks
            .iter()
            .map(|(listing_offset, first)| IndexEntry {
                listing_offset: *listing_offset,
                block_start: place(listing.start + u64::from(*listing_offset)).0,
                name: entries[*first].0.clone(),
            });
        let (block_start, offset) = place(listing.start);
        Directory {
            block_start,
            offset,
            listing_bytes: listing.len_bytes,
            parent: 0,
            index: index.take(INDEX_MAX).collect(),
        }
    }
}

/// Appends a listing that begins at byte `start` of the directory table.
pub(super) fn place_listing<'n>(
    entries: impl Iterator<Item = coldpress_format::EntryRef<'n>>,
    start: u64,
    output: &mut Vec<u8>,
) -> Result<PlacedListing, TooMany> {
    let before = output.len();
    let mut marks = append_listing(entries, start, output);
    let len = output.len() - before;
    // An index saves no more than a block of reading then, and makes the inode longer.
    if len <= METADATA_BLOCK_SIZE {
        marks.clear();
    }
    Ok(PlacedListing {
        start,
        len_bytes: listing_bytes(len)?,
        marks,
    })
}
