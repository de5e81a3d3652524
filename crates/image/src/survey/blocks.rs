//! The metadata blocks of a table, one behind the other.

use coldpress_format::{METADATA_BLOCK_SIZE, MetadataHeader, Part};

use crate::findings::{Findings, expect_usual};
use crate::image::Image;
use crate::region::Region;

/// The most metadata blocks of a table: more than 4 GiB of compressed metadata have. A hostile
/// image may consist of blocks of three bytes.
const BLOCKS_MAX: usize = 1 << 25;

/// A metadata block, or bytes where none could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Image byte of its header.
    pub(crate) start: u64,
    /// Image byte behind it.
    pub(crate) end: u64,
    /// Position of its content in the table before compression.
    pub(crate) position: u64,
    /// Length of its content, 1 to 8192; 0 if it cannot be read.
    pub(crate) len_bytes: u32,
    /// Whether it lies in the image as it is.
    pub(crate) stored: bool,
}

impl Block {
    /// The position behind its content.
    pub(crate) fn position_end(&self) -> u64 {
        self.position + u64::from(self.len_bytes)
    }
}

/// The metadata blocks of a table.
#[derive(Debug, Default)]
pub(crate) struct Blocks(Vec<Block>);

impl Blocks {
    /// Reads each block of `region`.
    ///
    /// * `hints`: image bytes at which blocks should begin, sorted: where to go on behind damage.
    pub(crate) fn scan(
        image: &Image,
        region: Region,
        hints: &[u64],
        findings: &mut Findings,
    ) -> Self {
        let mut blocks: Vec<Block> = Vec::new();
        let (mut start, mut position) = (region.start, 0);
        while start < region.end && blocks.len() < BLOCKS_MAX {
            let mut block = match image.store.metadata_block(start, region) {
                Ok(read) => Block {
                    start,
                    end: read.next,
                    position,
                    len_bytes: u32::try_from(read.content.len()).unwrap_or(0),
                    stored: read.stored,
                },
                Err(error) => {
                    findings.error(error);
                    let next = hints.partition_point(|hint| *hint <= start);
                    let next = hints.get(next).map_or(region.end, |hint| *hint);
                    Block {
                        start,
                        end: stated_end(image, start, region).unwrap_or(next),
                        position,
                        len_bytes: 0,
                        stored: false,
                    }
                }
            };
            block.end = block.end.min(region.end);
            position = block.position_end();
            start = block.end;
            blocks.push(block);
        }
        Self(blocks)
    }

    /// Blocks in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.0.iter()
    }

    /// Bytes of all blocks before compression.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.0.last().map_or(0, Block::position_end)
    }

    /// The position in the table of a byte of a block.
    ///
    /// * `start`: image byte of the block.
    ///
    /// Returns `None` if no readable block begins there, or it has no such byte. The byte behind
    /// its last one is the next block's first.
    pub(crate) fn position(&self, start: u64, offset: u64) -> Option<u64> {
        let found = self.0.binary_search_by_key(&start, |block| block.start);
        let block = self.0.get(found.ok()?)?;
        (block.len_bytes > 0 && offset <= block.len_bytes.into()).then(|| block.position + offset)
    }

    /// The block that holds the byte at a position in the table, and the byte's offset there.
    pub(crate) fn at(&self, position: u64) -> Option<(&Block, u64)> {
        let index = self
            .0
            .partition_point(|block| block.position_end() <= position);
        let block = self.0.get(index)?;
        Some((block, position - block.position))
    }

    /// Adds notices: blocks that are not full, and those that compression made no smaller.
    pub(crate) fn check(&self, findings: &mut Findings) {
        let part = Part::MetadataBlock;
        let full = METADATA_BLOCK_SIZE as u64;
        let mut short = (0, 0);
        let readable = |block: &&Block| block.len_bytes > 0;
        let last = self.0.last().map_or(0, |block| block.start);
        for block in self.0.iter().filter(readable) {
            let (len, at) = (u64::from(block.len_bytes), (part, block.start));
            if len < full && block.start != last {
                short = (
                    if short.0 == 0 { block.start } else { short.0 },
                    short.1 + 1,
                );
            }
            let size = block.end - block.start - MetadataHeader::SIZE;
            if !block.stored && size >= len {
                let field = "size of a compressed block, which is no smaller than its content,";
                findings.expect_usual(at, field, size, len.saturating_sub(1));
            }
        }
        let field = "number of metadata blocks of the table, from this one on, that are not full";
        if let Err(corrupt) = expect_usual((part, short.0), field, short.1, 0) {
            findings.notice((corrupt.part, corrupt.start), corrupt.rule);
        }
    }
}

/// The end that the header at image byte `start` states, if it is one.
fn stated_end(image: &Image, start: u64, region: Region) -> Option<u64> {
    let part = Part::MetadataBlock;
    let content = region.check(part, start, MetadataHeader::SIZE).ok()?;
    let mut bytes = [0; 2];
    image.store.read_exact(&mut bytes, start).ok()?;
    let header = MetadataHeader::parse(bytes, start).ok()?;
    region.check(part, content, header.size_bytes.into()).ok()
}
