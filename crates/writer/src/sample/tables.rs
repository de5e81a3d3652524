//! The metadata blocks of an image that was surveyed: what the writer would make of it, with the
//! sizes of blocks that the fast compressor gives.
//!
//! Other sizes stand in other images, but no more regular ones, so that the blocks shrink alike.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::ops::Range;

use coldpress_assemble::{
    BlockStarts, DataArea, Duplicates, FileBlock, FragmentBlock, MetadataLayout, Run, StatedBlocks,
    Table, TableOptions, TableSink, assemble,
};
use coldpress_format::{BlockSize, BlockWord, MetadataHeader, SUPERBLOCK_SIZE};
use coldpress_layout::NodeId;

use super::geometry::Geometry;
use super::population::{Content, Population};
use super::ranking::Ranking;
use super::rounds::METADATA_DENSITY;
use super::surveyed::{Family, Kind, Surveyed, Surveyor};
use crate::error::Error;
use crate::source::Source;

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

/// The tables in the order in which blocks are ranked that compress alike.
const BY_RANK: [Table; 7] = [
    Table::Export,
    Table::Inodes,
    Table::Directories,
    Table::Fragments,
    Table::Ids,
    Table::XattrPairs,
    Table::XattrIds,
];

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
    pub(super) fn tables(&self) -> Result<Tables, Error> {
        let (tree, order) = (&self.source.tree, &self.geometry.order);
        let duplicates = Duplicates {
            files: &tree.duplicates,
            tails: &self.geometry.duplicate_tails,
        };
        let mut blocks = SurveyedBlocks {
            found: self,
            files: self.population.files(),
        };
        let block_size = self.geometry.block_size;
        let start = SUPERBLOCK_SIZE as u64;
        let area = DataArea::stated(tree, order, duplicates, block_size, start, &mut blocks);
        let options = TableOptions {
            metadata: MetadataLayout::Dense,
            is_exportable: true,
        };
        let mut collected = Collected::default();
        assemble(tree, order, area, options, &mut collected)?;
        Ok(collected.into_tables())
    }
}

/// What the survey found of the blocks of the data area.
struct SurveyedBlocks<'a> {
    found: &'a Found<'a>,
    /// The places of each file's blocks in the population.
    files: HashMap<NodeId, Range<usize>>,
}

impl SurveyedBlocks<'_> {
    fn word(&self, place: Option<usize>) -> BlockWord {
        let block = place.and_then(|place| self.found.population.blocks.get(place));
        block.map_or(BlockWord::SPARSE, |block| word(block, self.found.family))
    }
}

impl StatedBlocks for SurveyedBlocks<'_> {
    fn block(&mut self, block: &FileBlock) -> BlockWord {
        let number = usize::try_from(block.number).unwrap_or(usize::MAX);
        let places = self.files.get(&block.file);
        self.word(places.and_then(|places| places.clone().nth(number)))
    }

    fn fragment(&mut self, block: &FragmentBlock<'_>) -> BlockWord {
        self.word(self.found.fragment_places.clone().nth(block.index))
    }

    fn is_sparse(&self, file: NodeId) -> bool {
        self.found.source.is_sparse(file)
    }
}

/// The tables as they are assembled.
#[derive(Default)]
struct Collected {
    /// For each table the content of its blocks.
    contents: [Vec<Vec<u8>>; Table::ALL.len()],
    /// For each table the bytes that are in no block.
    appended_bytes: [u64; Table::ALL.len()],
}

impl TableSink for Collected {
    type Error = Error;

    fn take(&mut self, run: &Run<'_>, starts: &mut BlockStarts) -> Result<(), Error> {
        for (content, _) in run.blocks() {
            starts.push(u16::try_from(content.len()).expect("at most 8 KiB"))?;
            self.contents[run.table as usize].push(content.to_vec());
        }
        Ok(())
    }

    fn replace(&mut self, table: Table, block: usize, _start: u32, content: &[u8]) {
        self.contents[table as usize][block].copy_from_slice(content);
    }

    fn place(&mut self, _table: Table) -> Result<(), Error> {
        Ok(())
    }

    fn append(&mut self, table: Table, bytes: &[u8]) -> Result<(), Error> {
        self.appended_bytes[table as usize] += bytes.len() as u64;
        Ok(())
    }
}

impl Collected {
    fn into_tables(mut self) -> Tables {
        let mut tables = Tables {
            fixed_bytes: SUPERBLOCK_SIZE as u64,
            ..Tables::default()
        };
        for table in BY_RANK {
            let contents = mem::take(&mut self.contents[table as usize]);
            let appended_bytes = self.appended_bytes[table as usize];
            let fixed_bytes = appended_bytes + MetadataHeader::SIZE * contents.len() as u64;
            if table == Table::Export {
                tables.export_fixed_bytes = fixed_bytes;
            } else {
                tables.fixed_bytes += fixed_bytes;
            }
            tables.of_blocks.extend(contents.iter().map(|_| table));
            tables.contents.extend(contents);
        }
        tables
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
}

fn word(block: &Surveyed, family: Family) -> BlockWord {
    let fast_bytes = block.fast_bytes(family);
    if block.kind == Kind::Zeros || fast_bytes == 0 {
        return BlockWord::SPARSE;
    }
    BlockWord::new(fast_bytes, fast_bytes < block.len_bytes)
}
