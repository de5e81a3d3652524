//! Streams of metadata blocks.

use std::mem;

use coldpress_format::{METADATA_BLOCK_SIZE, MetadataHeader};

use crate::error::TooMany;
use crate::sink::{Run, Table, TableSink};

/// Where the metadata blocks of a table begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockStarts {
    /// Of each the first byte of its header, from the start of the table.
    starts: Vec<u32>,
    /// Bytes of all blocks.
    size_bytes: u64,
}

impl BlockStarts {
    /// Adds the next block.
    ///
    /// * `size_bytes`: what it takes behind its header, at most 8 KiB.
    ///
    /// # Errors
    ///
    /// [`TooMany`] if the table takes over 4 GiB.
    pub fn push(&mut self, size_bytes: u16) -> Result<(), TooMany> {
        let start = u32::try_from(self.size_bytes).expect("checked when the last was pushed");
        self.starts.push(start);
        self.size_bytes += MetadataHeader::SIZE + u64::from(size_bytes);
        if self.size_bytes > u32::MAX.into() {
            return Err(TooMany {
                what: "bytes in a metadata table",
                found: self.size_bytes,
                limit: u32::MAX.into(),
            });
        }
        Ok(())
    }

    /// How many blocks there are.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Bytes that all blocks take.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The starts of all blocks.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.starts.iter().copied()
    }

    /// The 32-bit start of the block that holds byte `offset` of the stream, and the byte in it.
    ///
    /// The block behind the last counts as well, because its start is known.
    pub(crate) fn place(&self, offset: u64) -> (u32, u16) {
        let (block, within) = split(offset);
        (self.start(block), within)
    }

    /// The start of a block that was pushed or the next to be.
    pub(crate) fn start(&self, block: usize) -> u32 {
        debug_assert!(
            block <= self.starts.len(),
            "the start of block {block} is not known"
        );
        let start = self.starts.get(block).copied();
        start.unwrap_or_else(|| {
            u32::try_from(self.size_bytes).expect("checked when the block was pushed")
        })
    }
}

/// The index of the metadata block that holds byte `offset` of a stream of full blocks, and the
/// byte in it.
pub(crate) fn split(offset: u64) -> (usize, u16) {
    let block = offset / METADATA_BLOCK_SIZE as u64;
    let within = offset % METADATA_BLOCK_SIZE as u64;
    (
        usize::try_from(block).unwrap_or(usize::MAX),
        u16::try_from(within).expect("a remainder of 8192"),
    )
}

/// A table that grows at its end and is packed as far as its blocks are full.
pub(crate) struct Stream {
    table: Table,
    pub(crate) packed: BlockStarts,
    /// What is not packed; begins with a block.
    pub(crate) pending: Vec<u8>,
}

impl Stream {
    pub(crate) fn new(table: Table) -> Self {
        Self {
            table,
            packed: BlockStarts::default(),
            pending: Vec::new(),
        }
    }

    /// Bytes before compression.
    pub(crate) fn len_bytes(&self) -> u64 {
        (self.packed.count() * METADATA_BLOCK_SIZE + self.pending.len()) as u64
    }

    /// Packs the full blocks: then the starts of all blocks so far are known.
    pub(crate) fn flush<S: TableSink>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        let full = self.pending.len() / METADATA_BLOCK_SIZE * METADATA_BLOCK_SIZE;
        let run = run(self.table, &self.pending[..full], &[]);
        sink.take(&run, &mut self.packed)?;
        self.pending.drain(..full);
        Ok(())
    }

    /// Packs all that is pending, the last block too, and returns it.
    ///
    /// * `uncompressed`: as in [`Run`].
    pub(crate) fn finish<S: TableSink>(
        &mut self,
        uncompressed: &[bool],
        sink: &mut S,
    ) -> Result<Vec<u8>, S::Error> {
        let run = run(self.table, &self.pending, uncompressed);
        sink.take(&run, &mut self.packed)?;
        Ok(mem::take(&mut self.pending))
    }
}

/// Blocks of the usual length.
pub(crate) fn run<'a>(table: Table, content: &'a [u8], uncompressed: &'a [bool]) -> Run<'a> {
    Run {
        table,
        content,
        block_bytes: METADATA_BLOCK_SIZE,
        uncompressed,
    }
}
