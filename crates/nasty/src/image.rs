//! The bytes of an image.

use std::ops::Range;

use coldpress_codec::Encoder;
use coldpress_format::{
    Flags, METADATA_BLOCK_SIZE, MetadataHeader, PADDING_SIZE, SUPERBLOCK_SIZE, Superblock,
    XattrTable,
};

use crate::packing::pack;
use crate::tables::{Tables, narrow, refer};

/// An image in memory and where its records lie.
#[derive(Clone, Debug)]
pub struct Nasty {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What its superblock says.
    pub superblock: Superblock,
    /// Image byte of each node's inode, if the inode table is stored.
    pub inode_at: Vec<usize>,
    /// Image byte of the first listing, if the directory table is stored.
    pub listing_at: usize,
    /// Everything in it, in the order of the image.
    pub structures: Vec<Stored>,
}

/// Something in an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// What it is.
    pub what: Structure,
    /// Its image bytes; those of a metadata block begin with its header.
    pub at: Range<usize>,
}

/// The structures of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// The first 96 bytes.
    Superblock,
    /// The metadata block of compressor options.
    Options,
    /// All data and fragment blocks.
    Data,
    /// A metadata block of the inode table.
    Inodes,
    /// A metadata block of the directory table.
    Listings,
    /// A metadata block of the fragment table.
    Fragments,
    /// A metadata block of the export table.
    Exports,
    /// A metadata block of the id table.
    Ids,
    /// A metadata block of xattr pairs.
    Pairs,
    /// A metadata block of the xattr id table.
    XattrIds,
    /// The index of a table; of the xattr id table with its header.
    Index,
}

impl Nasty {
    /// The bytes with others put at a place.
    pub fn with(&self, at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut image = self.bytes.clone();
        image[at..at + bytes.len()].copy_from_slice(bytes);
        image
    }

    /// Image byte of the first structure of a kind.
    ///
    /// # Panics
    ///
    /// If the image has none.
    pub fn start_of(&self, what: Structure) -> usize {
        let found = self.structures.iter().find(|stored| stored.what == what);
        found.expect("the image has it").at.start
    }
}

impl Tables {
    /// The image of these tables, in the order that the format demands.
    pub fn write(&self) -> Nasty {
        let mut writer = Writer::new(self);
        writer.note(Structure::Superblock, 0);
        let mut flags = Flags::EXPORTABLE;
        if let Some(options) = &self.options {
            flags = flags.with(Flags::COMPRESSOR_OPTIONS);
            writer.block(Structure::Options, options, None);
        }
        let data = writer.bytes.len();
        writer.bytes.extend_from_slice(&self.data);
        writer.note(Structure::Data, data);
        let inode_table_start = writer.stream(Structure::Inodes, &self.inodes);
        let directory_table_start = writer.stream(Structure::Listings, &self.listings);
        let fragment_table_start = writer.table(Structure::Fragments, &self.fragments);
        let export_table_start = writer.table(Structure::Exports, &self.exports);
        let id_table_start = writer.table(Structure::Ids, &self.ids);
        let xattr_table_start = (!self.xattr_ids.is_empty()).then(|| writer.xattrs(self));
        let superblock = Superblock {
            inode_count: self.inode_count,
            modification_time_s: 1,
            block_size: self.packing.block_size,
            fragment_count: narrow(self.fragments.len() / 16),
            compressor: self.packing.compressor,
            flags,
            id_count: u16::try_from(self.ids.len() / 4).expect("few ids"),
            root_inode: refer(self.packing, 0),
            bytes_used: writer.position(),
            id_table_start,
            xattr_table_start,
            inode_table_start,
            directory_table_start,
            fragment_table_start: Some(fragment_table_start),
            export_table_start: (!self.exports.is_empty()).then_some(export_table_start),
        };
        writer.finish(self, superblock)
    }
}

struct Writer {
    bytes: Vec<u8>,
    structures: Vec<Stored>,
    encoder: Option<Encoder>,
}

impl Writer {
    fn new(tables: &Tables) -> Self {
        Self {
            bytes: vec![0; SUPERBLOCK_SIZE],
            structures: Vec::new(),
            encoder: tables.packing.encoder(),
        }
    }

    fn position(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Notes that the bytes from `start` on are one thing.
    fn note(&mut self, what: Structure, start: usize) {
        let at = start..self.bytes.len();
        self.structures.push(Stored { what, at });
    }

    /// A metadata block.
    fn block(
        &mut self,
        what: Structure,
        content: &[u8],
        encoder: Option<Encoder>,
    ) -> Option<Encoder> {
        let mut encoder = encoder;
        let (packed, compressed) = pack(&mut encoder, content);
        let start = self.bytes.len();
        let header = MetadataHeader {
            size_bytes: u16::try_from(packed.len()).expect("at most 8192 bytes"),
            compressed,
        };
        self.bytes.extend_from_slice(&header.write());
        self.bytes.extend_from_slice(&packed);
        self.note(what, start);
        encoder
    }

    /// Metadata blocks; returns where the first starts.
    fn stream(&mut self, what: Structure, stream: &[u8]) -> u64 {
        let start = self.position();
        for content in stream.chunks(METADATA_BLOCK_SIZE) {
            let encoder = self.encoder.take();
            self.encoder = self.block(what, content, encoder);
        }
        start
    }

    /// A table and its index; returns where the index starts.
    fn table(&mut self, what: Structure, entries: &[u8]) -> u64 {
        let blocks = entries.chunks(METADATA_BLOCK_SIZE);
        let starts: Vec<_> = blocks.map(|block| self.stream(what, block)).collect();
        self.index(&[], &starts)
    }

    fn index(&mut self, header: &[u8], starts: &[u64]) -> u64 {
        let index = self.bytes.len();
        self.bytes.extend_from_slice(header);
        for start in starts {
            self.bytes.extend_from_slice(&start.to_le_bytes());
        }
        self.note(Structure::Index, index);
        index as u64
    }

    /// Pairs, sets, and the header of these with its index; returns where the header starts.
    fn xattrs(&mut self, tables: &Tables) -> u64 {
        let pairs_start = self.stream(Structure::Pairs, &tables.pairs);
        let blocks = tables.xattr_ids.chunks(METADATA_BLOCK_SIZE);
        let starts: Vec<_> = blocks
            .map(|block| self.stream(Structure::XattrIds, block))
            .collect();
        let table = XattrTable {
            pairs_start,
            count: narrow(tables.xattr_ids.len() / 16),
        };
        self.index(&table.write(), &starts)
    }

    fn finish(self, tables: &Tables, superblock: Superblock) -> Nasty {
        let mut bytes = self.bytes;
        bytes[..SUPERBLOCK_SIZE].copy_from_slice(&superblock.write());
        let padding = usize::try_from(PADDING_SIZE).expect("4096 fits");
        bytes.resize(bytes.len().next_multiple_of(padding), 0);
        let place = |start: u64| usize::try_from(start).expect("the image is in memory");
        let inode_table = place(superblock.inode_table_start);
        let on_disk = |offset: &usize| {
            let (block, within) = (offset / METADATA_BLOCK_SIZE, offset % METADATA_BLOCK_SIZE);
            inode_table + block * (2 + METADATA_BLOCK_SIZE) + 2 + within
        };
        let inodes = tables.inode_at.split_last().map_or(&[][..], |(_, at)| at);
        Nasty {
            inode_at: inodes.iter().map(on_disk).collect(),
            listing_at: place(superblock.directory_table_start) + 2,
            structures: self.structures,
            bytes,
            superblock,
        }
    }
}
