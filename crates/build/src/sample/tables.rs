//! The metadata blocks of an image that was surveyed: what the writer would make of it, with the
//! sizes of blocks that the fast compressor gives.
//!
//! Other sizes stand in other images, but no more regular ones, so that the blocks shrink alike.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::mem;
use std::ops::Range;

use coldpress_format as format;
use coldpress_format::{
    BlockSize, BlockWord, Fragment, METADATA_BLOCK_SIZE, MetadataHeader, SUPERBLOCK_SIZE, TailEnd,
    XattrTable,
};
use coldpress_layout::{Item, NodeId};
use rustix::fs::{MemfdFlags, memfd_create};

use super::geometry::Geometry;
use super::population::{Content, Population};
use super::ranking::Ranking;
use super::rounds::METADATA_DENSITY;
use super::surveyed::{Family, Kind, Surveyed, Surveyor};
use crate::error::Error;
use crate::ids::Ids;
use crate::inodes::Contents;
use crate::metadata::split;
use crate::options::{Metadata, Options};
use crate::sink::Sink;
use crate::source::Source;
use crate::uncompressed::Uncompressed;
use crate::write;
use crate::xattrs::Xattrs;

/// The tables of an image before compression.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// For each metadata block of which table it is.
    pub(super) of_blocks: Vec<Table>,
    /// Bytes that are never compressed: superblock, headers of metadata blocks, indexes.
    pub(super) fixed_bytes: u64,
    /// Those that only an image with an export table has besides.
    pub(super) export_fixed_bytes: u64,
    /// The content of the blocks.
    contents: Vec<Vec<u8>>,
}

/// Tables by what is compressed or not together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// Inodes and listings.
    Inodes,
    Fragments,
    Export,
    Ids,
    Xattrs,
}

impl Table {
    pub(super) fn is_stored(self, stored: Uncompressed) -> bool {
        match self {
            Self::Inodes | Self::Export => stored.inodes,
            Self::Fragments => stored.fragments,
            Self::Ids => stored.ids,
            Self::Xattrs => stored.xattrs,
        }
    }
}

/// What the survey found of an image.
pub(super) struct Found<'a> {
    pub(super) source: &'a Source,
    pub(super) geometry: &'a Geometry,
    pub(super) population: &'a Population,
    /// The places of its fragment blocks in the population.
    pub(super) fragment_places: Range<usize>,
    pub(super) family: Family,
}

impl Found<'_> {
    /// What the writer makes of it, before compression.
    ///
    /// * `options`: those of any candidate.
    pub(super) fn tables(&self, options: &Options) -> Result<Tables, Error> {
        let options = Options {
            compression: None,
            metadata: Metadata::Dense,
            ..options.clone()
        };
        let (tree, order) = (&self.source.tree, &self.geometry.order);
        let (mut contents, fragments) = self.data_area();
        let ids = Ids::new(tree, order)?;
        let xattrs = Xattrs::new(tree, order);
        let memory = memfd_create("tables", MemfdFlags::CLOEXEC);
        let mut memory = File::from(memory.map_err(|error| Error::Write(error.into()))?);
        let mut sink = Sink::in_memory(&memory);
        let contents = Contents::new(tree, order, &ids, &xattrs, &mut contents);
        let (inodes, numbers) = contents.pack(&options, &mut sink)?;
        let mut stored = Vec::new();
        memory.rewind().map_err(Error::Write)?;
        memory.read_to_end(&mut stored).map_err(Error::Write)?;
        let mut tables = Tables::default();
        tables.add_lookup(Table::Export, &write::export_entries(&numbers, &inodes));
        tables.export_fixed_bytes = tables.fixed_bytes;
        tables.fixed_bytes = SUPERBLOCK_SIZE as u64;
        tables.add_stored(Table::Inodes, &stored);
        tables.add_lookup(Table::Fragments, &write::fragment_entries(&fragments));
        tables.add_lookup(Table::Ids, &ids.entries());
        if !xattrs.is_empty() {
            tables.fixed_bytes += XattrTable::SIZE as u64;
            tables.add(Table::Xattrs, xattrs.stream());
            tables.add_lookup(Table::Xattrs, &xattrs.entries(place));
        }
        Ok(tables)
    }

    /// The block lists and the fragment table.
    fn data_area(&self) -> (Vec<format::File>, Vec<Fragment>) {
        let tree = &self.source.tree;
        let mut files = vec![format::File::default(); tree.nodes.len()];
        let mut fragments: Vec<Fragment> = Vec::new();
        let mut end = SUPERBLOCK_SIZE as u64;
        let file_places = self.population.files();
        let mut fragment_places = self.fragment_places.clone();
        for item in &self.geometry.order.data {
            match item {
                Item::Blocks(node) => {
                    let Some(places) = file_places.get(node) else {
                        continue;
                    };
                    let blocks = self.population.blocks[places.clone()].iter();
                    let blocks = blocks.take(self.block_count(*node));
                    let file = &mut files[node.index()];
                    for block in blocks {
                        self.push_block(*node, file, block, end);
                        end += u64::from(block.fast_bytes(self.family));
                    }
                }
                Item::Fragment(members) => {
                    let fragment = u32::try_from(fragments.len()).expect("fewer than inodes");
                    let mut offset = 0;
                    for node in members {
                        files[node.index()].tail = Some(TailEnd { fragment, offset });
                        let size_bytes = self.source.size_bytes(*node);
                        offset += self.geometry.block_size.tail_bytes(size_bytes);
                    }
                    let place = fragment_places.next().expect("they are of this order");
                    let block = &self.population.blocks[place];
                    let size = word(block, self.family);
                    fragments.push(Fragment { start: end, size });
                    end += u64::from(block.fast_bytes(self.family));
                }
            }
        }
        self.share(&mut files);
        (files, fragments)
    }

    fn push_block(&self, node: NodeId, file: &mut format::File, block: &Surveyed, start: u64) {
        let word = word(block, self.family);
        if word.is_sparse() {
            if self.source.is_sparse(node) {
                file.sparse_bytes += u64::from(block.len_bytes);
            }
        } else if file.start == 0 {
            file.start = start;
        }
        file.blocks.push(word);
    }

    /// Gives duplicates the data of their originals, and every file its length.
    fn share(&self, files: &mut [format::File]) {
        for (node, original) in &self.geometry.duplicate_tails {
            if self.geometry.packed[node.index()] {
                files[node.index()].tail = files[original.index()].tail;
            }
        }
        for (node, original) in &self.source.tree.duplicates {
            files[node.index()] = files[original.index()].clone();
        }
        for (file, node) in files.iter_mut().zip(&self.source.tree.nodes) {
            file.size_bytes = node.size_bytes().unwrap_or(0);
            file.sparse_bytes = file.sparse_bytes.min(file.size_bytes.saturating_sub(1));
        }
    }

    fn block_count(&self, node: NodeId) -> usize {
        let size_bytes = self.source.size_bytes(node);
        let count = self.geometry.block_count(node, size_bytes);
        usize::try_from(count).unwrap_or(usize::MAX)
    }
}

impl Tables {
    /// Surveys the blocks, and keeps the content of those alone that are to be samples.
    pub(super) fn population(
        &mut self,
        block_size: BlockSize,
        families: &[Family],
    ) -> Result<Population, Error> {
        let mut surveyor = Surveyor::new(families)?;
        let contents = mem::take(&mut self.contents);
        let blocks = contents.iter().map(|content| surveyor.metadata(content));
        let mut population = Population {
            block_size,
            blocks: blocks.collect::<Result<_, _>>()?,
            content: Content::Metadata(BTreeMap::new()),
        };
        let mut kept = BTreeMap::new();
        for family in families {
            let ranking = Ranking::new(0, *family, &population);
            for rank in ranking.samples(METADATA_DENSITY) {
                let place = ranking.keys[rank].place();
                kept.insert(place, contents[place].clone());
            }
        }
        population.content = Content::Metadata(kept);
        Ok(population)
    }

    /// Adds metadata blocks that are stored as they are, with their headers.
    fn add_stored(&mut self, table: Table, mut stored: &[u8]) {
        while let Some((header, rest)) = stored.split_first_chunk() {
            let header = MetadataHeader::parse(*header, 0).expect("the writer made it");
            let (block, rest) = rest.split_at(header.size_bytes.into());
            self.add(table, block);
            stored = rest;
        }
    }

    /// Adds a stream of metadata.
    fn add(&mut self, table: Table, stream: &[u8]) {
        for block in stream.chunks(METADATA_BLOCK_SIZE) {
            self.fixed_bytes += MetadataHeader::SIZE;
            self.of_blocks.push(table);
            self.contents.push(block.to_vec());
        }
    }

    /// Adds a table of entries, and its index.
    fn add_lookup(&mut self, table: Table, entries: &[u8]) {
        self.fixed_bytes += 8 * entries.chunks(METADATA_BLOCK_SIZE).len() as u64;
        self.add(table, entries);
    }
}

/// Where a byte of a stream lies, about.
fn place(offset: u64) -> (u32, u16) {
    let (block, within) = split(offset);
    (u32::try_from(block).unwrap_or(u32::MAX), within)
}

fn word(block: &Surveyed, family: Family) -> BlockWord {
    let fast_bytes = block.fast_bytes(family);
    if block.kind == Kind::Zeros || fast_bytes == 0 {
        return BlockWord::SPARSE;
    }
    BlockWord::new(fast_bytes, fast_bytes < block.len_bytes)
}
