//! Inodes and listings packed into full metadata blocks: first the cold part, then the hot one.

use std::collections::HashMap;
use std::mem;

use coldpress_format::{Directory, IndexEntry, InodeRef, METADATA_BLOCK_SIZE, append_listing};
use coldpress_layout::NodeId;

use super::{Contents, InodeTables, hot, listing_bytes};
use crate::error::Error;
use crate::metadata::{Stream, split};
use crate::options::Options;
use crate::sink::Sink;

/// Bytes that wait in memory before they are packed, if nothing needs to know their place earlier:
/// enough blocks for many threads.
const PENDING_BYTES: usize = 1 << 20;
/// The most entries that an index can count.
const INDEX_MAX: usize = u16::MAX as usize;

pub(super) fn pack(
    contents: &mut Contents,
    options: &Options,
    image: &mut Sink,
) -> Result<InodeTables, Error> {
    let is_stored = options.stored().inodes;
    let mut tables = Tables {
        places: vec![Place::UNKNOWN; contents.tree.nodes.len()],
        inodes: Stream::new(options, is_stored)?,
        listings: Stream::new(options, is_stored)?,
        contents,
    };
    let inode_table_start = image.end;
    tables.pack_cold(image)?;
    hot::pack(&mut tables)?;
    tables.write_inodes(image)?;
    let directory_table_start = image.end;
    image.append(&tables.listings.packed.bytes)?;
    let (places, inodes) = (tables.places, &tables.inodes);
    Ok(InodeTables {
        inode_table_start,
        directory_table_start,
        inode_table: inodes.packed.size(),
        directory_table: tables.listings.packed.size(),
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
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct PlacedListing {
    pub(super) start: u64,
    pub(super) len_bytes: u32,
    /// Where an index may point: bytes of the listing and the entries there.
    marks: Vec<(u32, usize)>,
}

/// Both tables while they grow.
pub(super) struct Tables<'c, 'a, 'o> {
    pub(super) contents: &'c mut Contents<'a>,
    /// For each node.
    pub(super) places: Vec<Place>,
    pub(super) inodes: Stream<'o>,
    pub(super) listings: Stream<'o>,
}

impl Tables<'_, '_, '_> {
    /// Packs the cold part. Whatever an inode or a listing there refers to lies in front of it, so
    /// its place is known as soon as the full blocks are packed.
    fn pack_cold(&mut self, image: &mut Sink) -> Result<(), Error> {
        let order = self.contents.order;
        let mut listings = &order.directories[..order.cold_directories];
        let mut listed = HashMap::new();
        for node in &order.inodes[..order.cold_inodes] {
            if self.contents.tree.is_directory(*node) {
                if !listed.contains_key(node) {
                    self.inodes.flush()?;
                    listings = self.list(*node, listings, &mut listed)?;
                    self.listings.flush()?;
                }
                let listing = listed.remove(node).expect("a law of orders");
                self.places[node.index()] = Place::new(self.inodes.len_bytes());
                let body = self.body(*node, &listing, |offset| self.listings.packed.place(offset));
                self.contents
                    .directory(*node, body)
                    .write(&mut self.inodes.pending);
            } else {
                self.places[node.index()] = Place::new(self.inodes.len_bytes());
                self.contents.leaf(*node).write(&mut self.inodes.pending);
            }
            if self.inodes.pending.len() >= PENDING_BYTES {
                self.inodes.flush()?;
                self.write_inodes(image)?;
            }
        }
        self.inodes.flush()?;
        self.write_inodes(image)
    }

    /// Writes listings up to that of `node`, and further as long as what they name has its place:
    /// the more at once, the more blocks can be compressed in parallel. Returns the rest.
    fn list<'l>(
        &mut self,
        node: NodeId,
        mut listings: &'l [NodeId],
        listed: &mut HashMap<NodeId, PlacedListing>,
    ) -> Result<&'l [NodeId], Error> {
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
            listed.insert(*next, place_listing(entries, start, pending)?);
            if self.listings.pending.len() >= PENDING_BYTES {
                self.listings.flush()?;
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

    /// Moves what is packed of the inode table into the image.
    fn write_inodes(&mut self, image: &mut Sink) -> Result<(), Error> {
        image.append(&mem::take(&mut self.inodes.packed.bytes))
    }
}

/// Appends a listing that begins at byte `start` of the directory table.
pub(super) fn place_listing<'n>(
    entries: impl Iterator<Item = coldpress_format::EntryRef<'n>>,
    start: u64,
    output: &mut Vec<u8>,
) -> Result<PlacedListing, Error> {
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
