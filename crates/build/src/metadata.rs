//! Streams of metadata blocks.

use std::num::NonZeroUsize;

use coldpress_codec::{Encoder, Workers, ordered};
use coldpress_format::{METADATA_BLOCK_SIZE, MetadataHeader};

use crate::error::Error;
use crate::options::Options;
use crate::summary::TableSize;

/// Blocks from which on it pays to start threads: compressing one takes a fraction of a
/// millisecond.
const PARALLEL_BLOCKS: usize = 4;
/// Blocks in flight for each thread.
const WINDOW_BLOCKS: usize = 32;

/// A stream of metadata as it lies in the image.
#[derive(Default)]
pub(crate) struct Packed {
    /// The last bytes of it: what was not taken yet.
    pub(crate) bytes: Vec<u8>,
    /// Where each metadata block begins.
    pub(crate) starts: Vec<u32>,
    /// Bytes of all blocks.
    size_bytes: u64,
    /// What they would be if all were stored as they are.
    content_bytes: u64,
}

impl Packed {
    /// The 32-bit start of the block that holds byte `offset` of the stream, and the byte in it.
    ///
    /// The block behind the last counts as well, because its start is known.
    pub(crate) fn place(&self, offset: u64) -> (u32, u16) {
        let (block, within) = split(offset);
        (self.start(block), within)
    }

    /// The start of a block that is packed or the next to be.
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

    /// Bytes of the table, and what they would be without compression.
    pub(crate) fn size(&self) -> TableSize {
        TableSize {
            stored_bytes: self.size_bytes,
            content_bytes: self.content_bytes,
        }
    }

    /// * `len_bytes`: what the block holds.
    fn push(&mut self, content: &[u8], len_bytes: usize, compressed: bool) -> Result<(), Error> {
        let start = u32::try_from(self.size_bytes).expect("checked when the last was pushed");
        let size_bytes = u16::try_from(content.len()).expect("a metadata block is at most 8 KiB");
        let header = MetadataHeader {
            size_bytes,
            compressed,
        };
        self.starts.push(start);
        self.bytes.extend(header.write());
        self.bytes.extend(content);
        self.size_bytes += MetadataHeader::SIZE + u64::from(size_bytes);
        self.content_bytes += MetadataHeader::SIZE + len_bytes as u64;
        if self.size_bytes > u32::MAX.into() {
            return Err(Error::TooMany {
                what: "bytes in a metadata table",
                found: self.size_bytes,
                limit: u32::MAX.into(),
            });
        }
        Ok(())
    }

    /// Gives a block that is stored as it is, and not taken yet, another content of the same
    /// length.
    pub(crate) fn replace_stored(&mut self, block: usize, content: &[u8]) {
        let end = self.starts.get(block + 1);
        let end = end.map_or(self.size_bytes, |start| u64::from(*start));
        let taken = self.size_bytes - self.bytes.len() as u64;
        let end = usize::try_from(end - taken).expect("it is in memory");
        self.bytes[end - content.len()..end].copy_from_slice(content);
    }
}

/// The header of a block that is stored as it is.
pub(crate) fn stored_header(len: usize) -> [u8; 2] {
    let size_bytes = u16::try_from(len).expect("a metadata block is at most 8 KiB");
    let compressed = false;
    MetadataHeader {
        size_bytes,
        compressed,
    }
    .write()
}

/// The index of the metadata block that holds byte `offset` of a stream, and the byte in it.
pub(crate) fn split(offset: u64) -> (usize, u16) {
    let block = offset / METADATA_BLOCK_SIZE as u64;
    let within = offset % METADATA_BLOCK_SIZE as u64;
    (
        usize::try_from(block).unwrap_or(usize::MAX),
        u16::try_from(within).expect("a remainder of 8192"),
    )
}

/// Packs a whole stream, compressing its blocks in parallel.
///
/// * `is_stored`: whether all of it is stored as it is.
pub(crate) fn pack(stream: &[u8], is_stored: bool, options: &Options) -> Result<Packed, Error> {
    let mut packed = Packed::default();
    Packer::new(options, is_stored)?.pack(stream, |_| true, &mut packed)?;
    Ok(packed)
}

/// Packs metadata blocks, many at a time in parallel.
pub(crate) struct Packer<'a> {
    options: &'a Options,
    is_stored: bool,
    /// For few blocks at a time.
    encoder: Option<Encoder>,
}

impl<'a> Packer<'a> {
    /// * `is_stored`: whether all blocks are stored as they are.
    pub(crate) fn new(options: &'a Options, is_stored: bool) -> Result<Self, Error> {
        let encoder = encoder(options, is_stored)?;
        Ok(Self {
            options,
            is_stored,
            encoder,
        })
    }

    /// Packs a stream behind `packed`.
    ///
    /// * `compressible`: whether the block with this index may be compressed.
    pub(crate) fn pack(
        &mut self,
        stream: &[u8],
        compressible: impl Fn(usize) -> bool + Sync,
        packed: &mut Packed,
    ) -> Result<(), Error> {
        let blocks = stream.chunks(METADATA_BLOCK_SIZE).enumerate();
        let compress = |encoder: &mut Option<Encoder>, (index, content): (usize, &'_ [u8])| {
            let mut compressed = Vec::new();
            let shrunk = match encoder {
                Some(encoder) if compressible(index) => {
                    encoder.compress(content, &mut compressed)?
                }
                _ => false,
            };
            Ok::<_, Error>(shrunk.then_some(compressed))
        };
        if blocks.len() < PARALLEL_BLOCKS || self.encoder.is_none() {
            for (index, content) in blocks {
                match compress(&mut self.encoder, (index, content))? {
                    Some(compressed) => packed.push(&compressed, content.len(), true)?,
                    None => packed.push(content, content.len(), false)?,
                }
            }
            return Ok(());
        }
        let (options, is_stored) = (self.options, self.is_stored);
        let threads = options.threads;
        let workers = Workers {
            threads,
            window: threads.saturating_mul(NonZeroUsize::new(WINDOW_BLOCKS).unwrap_or(threads)),
        };
        ordered(
            blocks.map(Ok),
            &workers,
            || encoder(options, is_stored),
            |encoder, (index, content)| Ok((content, compress(encoder, (index, content))?)),
            |(content, compressed)| match compressed {
                Some(compressed) => packed.push(&compressed, content.len(), true),
                None => packed.push(content, content.len(), false),
            },
        )
    }
}

fn encoder(options: &Options, is_stored: bool) -> Result<Option<Encoder>, Error> {
    if is_stored {
        return Ok(None);
    }
    options.encoder()
}

/// A table that grows at its end and is packed as far as its blocks are full.
pub(crate) struct Stream<'a> {
    packer: Packer<'a>,
    pub(crate) packed: Packed,
    /// What is not packed; begins with a block.
    pub(crate) pending: Vec<u8>,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(options: &'a Options, is_stored: bool) -> Result<Self, Error> {
        Ok(Self {
            packer: Packer::new(options, is_stored)?,
            packed: Packed::default(),
            pending: Vec::new(),
        })
    }

    /// Bytes before compression.
    pub(crate) fn len_bytes(&self) -> u64 {
        (self.packed.starts.len() * METADATA_BLOCK_SIZE + self.pending.len()) as u64
    }

    /// Packs the full blocks: then the starts of all blocks so far are known.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        let full = self.pending.len() / METADATA_BLOCK_SIZE * METADATA_BLOCK_SIZE;
        let packed = &mut self.packed;
        self.packer.pack(&self.pending[..full], |_| true, packed)?;
        self.pending.drain(..full);
        Ok(())
    }

    /// Packs all that is pending, the last block too.
    ///
    /// * `compressible`: whether the block with this index, from the first pending one, may be
    ///   compressed.
    pub(crate) fn finish(
        &mut self,
        compressible: impl Fn(usize) -> bool + Sync,
    ) -> Result<(), Error> {
        self.packer
            .pack(&self.pending, compressible, &mut self.packed)
    }
}
