//! Streams of metadata blocks.

use coldpress_codec::ordered;
use coldpress_format::{METADATA_BLOCK_SIZE, MetadataHeader};

use crate::error::Error;
use crate::write::Options;

/// A stream of metadata as it lies in the image.
#[derive(Default)]
pub(crate) struct Packed {
    pub(crate) bytes: Vec<u8>,
    /// Where each metadata block begins in `bytes`.
    pub(crate) starts: Vec<u32>,
}

impl Packed {
    /// The 32-bit start of the block that holds byte `offset` of the stream, and the byte in it.
    ///
    /// The end of the stream, where an empty listing at the end stands, counts as its last place.
    pub(crate) fn place(&self, offset: u64) -> (u32, u16) {
        let (block, within) = split(offset);
        let start = self.starts.get(block).copied();
        let end = u32::try_from(self.bytes.len()).expect("checked when the block was pushed");
        (start.unwrap_or(end), within)
    }

    pub(crate) fn push(&mut self, content: &[u8], compressed: bool) -> Result<(), Error> {
        let found = self.bytes.len() as u64;
        let start = u32::try_from(found).map_err(|_| Error::TooMany {
            what: "bytes in a metadata table",
            found,
            limit: u32::MAX.into(),
        })?;
        let size_bytes = u16::try_from(content.len()).expect("a metadata block is at most 8 KiB");
        self.starts.push(start);
        self.bytes.extend(
            MetadataHeader {
                size_bytes,
                compressed,
            }
            .write(),
        );
        self.bytes.extend(content);
        Ok(())
    }

    /// Gives a block that is stored as it is another content of the same length.
    pub(crate) fn replace_raw(&mut self, index: usize, content: &[u8]) {
        let end = self
            .starts
            .get(index + 1)
            .map_or(self.bytes.len(), |start| *start as usize);
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

/// Packs a stream behind `packed`, compressing its blocks in parallel.
pub(crate) fn pack(stream: &[u8], options: &Options, packed: &mut Packed) -> Result<(), Error> {
    pack_where(stream, |_| true, options, packed)
}

/// As [`pack`], but leaves blocks as they are for whose index `compressible` is false.
pub(crate) fn pack_where(
    stream: &[u8],
    compressible: impl Fn(usize) -> bool + Sync,
    options: &Options,
    packed: &mut Packed,
) -> Result<(), Error> {
    ordered(
        stream.chunks(METADATA_BLOCK_SIZE).enumerate().map(Ok),
        &options.workers(),
        || options.encoder(),
        |encoder, (index, content): (usize, &[u8])| {
            let mut compressed = Vec::new();
            let shrunk = match encoder {
                Some(encoder) if compressible(index) => {
                    encoder.compress(content, &mut compressed)?
                }
                _ => false,
            };
            Ok((content, shrunk.then_some(compressed)))
        },
        |(content, compressed)| match compressed {
            Some(compressed) => packed.push(&compressed, true),
            None => packed.push(content, false),
        },
    )
}
