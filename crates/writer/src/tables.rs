//! The tables of an image, compressed and written.

#[cfg(test)]
mod tests;

use std::mem;
use std::num::NonZeroUsize;

use coldpress_assemble::{BlockStarts, Run, Table, TableSink};
use coldpress_codec::{Encoder, Workers, ordered};
use coldpress_format::MetadataHeader;

use crate::error::Error;
use crate::options::Options;
use crate::sink::Sink;
use crate::summary::TableSize;

/// Blocks from which on it pays to start threads: compressing one takes a fraction of a
/// millisecond.
const PARALLEL_BLOCKS: usize = 4;
/// Blocks in flight for each thread.
const WINDOW_BLOCKS: usize = 32;

/// Compresses metadata blocks, many at a time in parallel, and appends them to an image.
pub(crate) struct TableWriter<'a, 'f> {
    options: &'a Options,
    image: &'a mut Sink<'f>,
    /// For few blocks at a time.
    encoder: Option<Encoder>,
    /// For each table what is not placed yet.
    waiting: [Waiting; Table::ALL.len()],
}

/// Blocks of a table that are not in the image yet.
#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Bytes of the table that are in the image.
    placed_bytes: u64,
    /// The metadata blocks so far.
    size: TableSize,
}

impl<'a, 'f> TableWriter<'a, 'f> {
    pub(crate) fn new(options: &'a Options, image: &'a mut Sink<'f>) -> Result<Self, Error> {
        Ok(Self {
            options,
            image,
            encoder: options.encoder()?,
            waiting: <[Waiting; Table::ALL.len()]>::default(),
        })
    }

    /// What the metadata blocks of some tables take.
    pub(crate) fn size(&self, tables: &[Table]) -> TableSize {
        let sizes = tables
            .iter()
            .map(|table| self.waiting[*table as usize].size);
        sizes.fold(TableSize::default(), |sum, size| TableSize {
            stored_bytes: sum.stored_bytes + size.stored_bytes,
            content_bytes: sum.content_bytes + size.content_bytes,
        })
    }
}

impl TableSink for TableWriter<'_, '_> {
    type Error = Error;

    fn take(&mut self, run: &Run<'_>, starts: &mut BlockStarts) -> Result<(), Error> {
        let is_stored = self.options.stored().has(run.table);
        let waiting = &mut self.waiting[run.table as usize];
        let mut push = |content: &[u8], compressed: Option<Vec<u8>>| {
            let stored = compressed.as_deref().unwrap_or(content);
            let header = header(stored.len(), compressed.is_some());
            waiting.bytes.extend(header.write());
            waiting.bytes.extend(stored);
            waiting.size.stored_bytes += MetadataHeader::SIZE + stored.len() as u64;
            waiting.size.content_bytes += MetadataHeader::SIZE + content.len() as u64;
            starts.push(header.size_bytes).map_err(Error::from)
        };
        let compress = |encoder: &mut Option<Encoder>, (content, is_compressible): (&[u8], _)| {
            let mut compressed = Vec::new();
            let shrunk = match encoder {
                Some(encoder) if is_compressible && !is_stored => {
                    encoder.compress(content, &mut compressed)?
                }
                _ => false,
            };
            Ok::<_, Error>(shrunk.then_some(compressed))
        };
        let blocks = run.blocks();
        if blocks.len() < PARALLEL_BLOCKS || is_stored {
            for block in blocks {
                let compressed = compress(&mut self.encoder, block)?;
                push(block.0, compressed)?;
            }
            return Ok(());
        }
        let options = self.options;
        let threads = options.threads;
        let workers = Workers {
            threads,
            window: threads.saturating_mul(NonZeroUsize::new(WINDOW_BLOCKS).unwrap_or(threads)),
        };
        ordered(
            blocks.map(Ok),
            &workers,
            || options.encoder(),
            |encoder, block| Ok((block.0, compress(encoder, block)?)),
            |(content, compressed)| push(content, compressed),
        )
    }

    fn replace(&mut self, table: Table, _block: usize, start: u32, content: &[u8]) {
        let waiting = &mut self.waiting[table as usize];
        let body_start = u64::from(start) + MetadataHeader::SIZE - waiting.placed_bytes;
        let body_start = usize::try_from(body_start).expect("it is in memory");
        waiting.bytes[body_start..body_start + content.len()].copy_from_slice(content);
    }

    fn place(&mut self, table: Table) -> Result<(), Error> {
        let waiting = &mut self.waiting[table as usize];
        waiting.placed_bytes += waiting.bytes.len() as u64;
        self.image.append(&mem::take(&mut waiting.bytes))
    }

    fn append(&mut self, _table: Table, bytes: &[u8]) -> Result<(), Error> {
        self.image.append(bytes)
    }
}

/// The header of a block that takes so many bytes.
fn header(len: usize, compressed: bool) -> MetadataHeader {
    MetadataHeader {
        size_bytes: u16::try_from(len).expect("a metadata block is at most 8 KiB"),
        compressed,
    }
}

/// The header of a block that is stored as it is.
pub(crate) fn stored_header(len: usize) -> [u8; 2] {
    header(len, false).write()
}
