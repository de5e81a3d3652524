//! The bytes of an image and the decompressed blocks that are kept of it.

use std::io;
use std::sync::Arc;

use coldpress_format::{BlockWord, Corrupt, METADATA_BLOCK_SIZE, MetadataHeader, Part, Rule};

use crate::decoders::Decoders;
use crate::error::Error;
use crate::region::Region;
use crate::slots::Slots;
use crate::source::{ReadAdvice, ReadAt};

/// Decompressed metadata blocks kept: 2 MiB, the inodes of some 60,000 files.
const METADATA_SLOTS: usize = 256;
/// Data and fragment blocks kept, of at most 1 MiB: enough for a few sequential partial readers.
const DATA_SLOTS: usize = 8;
/// Bytes of metadata block headers that are read at once when blocks are counted.
const COUNTING_BYTES: usize = 64 << 10;

/// A decompressed metadata block.
pub(crate) struct MetadataBlock {
    /// Image byte of its header.
    pub(crate) start: u64,
    /// Image byte behind it, where the next block of its stream starts.
    pub(crate) next: u64,
    /// Whether it lies in the image as it is.
    pub(crate) stored: bool,
    /// Its content, 1 to 8192 bytes.
    pub(crate) content: Vec<u8>,
}

/// The bytes of an image.
pub(crate) struct Store {
    source: Box<dyn ReadAt>,
    decoders: Decoders,
    metadata: Slots<MetadataBlock>,
    data: Slots<Vec<u8>>,
}

impl Store {
    pub(crate) fn new(source: Box<dyn ReadAt>, decoders: Decoders) -> Self {
        let (metadata, data) = (Slots::new(METADATA_SLOTS), Slots::new(DATA_SLOTS));
        Self {
            source,
            decoders,
            metadata,
            data,
        }
    }

    /// How many bytes the source has, which may be more than the image.
    pub(crate) fn size_bytes(&self) -> Result<u64, Error> {
        self.source
            .size_bytes()
            .map_err(|source| Error::Read { start: 0, source })
    }

    /// Tells the source how it will be read.
    pub(crate) fn advise(&self, advice: ReadAdvice) {
        self.source.advise(advice);
    }

    /// Fills `buf` with the image bytes from `start` on.
    pub(crate) fn read_exact(&self, buf: &mut [u8], start: u64) -> Result<(), Error> {
        read_exact(&*self.source, buf, start)
    }

    /// The metadata block whose header is at image byte `start`, which must end inside `region`.
    pub(crate) fn metadata_block(
        &self,
        start: u64,
        region: Region,
    ) -> Result<Arc<MetadataBlock>, Error> {
        if let Some(block) = self.metadata.get(start) {
            region.check(Part::MetadataBlock, start, block.next - start)?;
            return Ok(block);
        }
        region.check(Part::MetadataBlock, start, MetadataHeader::SIZE)?;
        // The block with its header in one read: a second one for 2 bytes costs more than 8 KiB.
        let mut buf = [0; 2 + METADATA_BLOCK_SIZE];
        let len = usize::try_from(region.end - start).map_or(buf.len(), |len| len.min(buf.len()));
        self.read_exact(&mut buf[..len], start)?;
        let [low, high, rest @ ..] = &buf;
        let header = MetadataHeader::parse([*low, *high], start)?;
        let size = u64::from(header.size_bytes) + MetadataHeader::SIZE;
        let next = region.check(Part::MetadataBlock, start, size)?;
        let input = &rest[..usize::from(header.size_bytes)];
        let content = if header.compressed {
            let mut output = vec![0; METADATA_BLOCK_SIZE];
            let len = self.decode(input, &mut output, Part::MetadataBlock, start)?;
            output.truncate(len);
            output
        } else {
            input.to_vec()
        };
        if content.is_empty() {
            let (needed, found) = (1, 0);
            let rule = Rule::Truncated { needed, found };
            return Err(Corrupt::new(Part::MetadataBlock, start, rule).into());
        }
        let stored = !header.compressed;
        let block = MetadataBlock {
            start,
            next,
            stored,
            content,
        };
        Ok(self.metadata.put(start, block))
    }

    /// An upper bound of the bytes that the metadata blocks of `region` hold: their number times
    /// 8192.
    ///
    /// Reads the headers only, so it is cheap beside any use of the blocks.
    pub(crate) fn metadata_bytes_max(&self, region: Region) -> Result<u64, Error> {
        let mut buf = vec![0; COUNTING_BYTES];
        let mut window = Region { start: 0, end: 0 };
        let (mut start, mut count) = (region.start, 0_u64);
        while start + MetadataHeader::SIZE <= region.end {
            if window
                .check(Part::MetadataBlock, start, MetadataHeader::SIZE)
                .is_err()
            {
                let len = (region.end - start).min(buf.len() as u64);
                window = Region {
                    start,
                    end: start + len,
                };
                let len = usize::try_from(len).unwrap_or(buf.len());
                self.read_exact(&mut buf[..len], start)?;
            }
            let at = usize::try_from(start - window.start).unwrap_or(usize::MAX);
            let header = buf.get(at..).and_then(|bytes| bytes.first_chunk::<2>());
            let parsed = header.map(|bytes| MetadataHeader::parse(*bytes, start));
            let Some(Ok(header)) = parsed else {
                // Not a stream of blocks from here on. A reference may still point behind it:
                // as many blocks as fit, of one byte each.
                count += (region.end - start) / (MetadataHeader::SIZE + 1);
                break;
            };
            count += 1;
            start += MetadataHeader::SIZE + u64::from(header.size_bytes);
        }
        Ok(count.saturating_mul(METADATA_BLOCK_SIZE as u64))
    }

    /// Decompresses `input` into `output`; returns the bytes written.
    ///
    /// * `part`, `start`: what is decompressed, for errors.
    pub(crate) fn decode(
        &self,
        input: &[u8],
        output: &mut [u8],
        part: Part,
        start: u64,
    ) -> Result<usize, Error> {
        let limit = output.len() as u64;
        self.decoders
            .with(|decoder| decoder.decompress(input, output))?
            .map_err(|_| Corrupt::new(part, start, Rule::Undecodable { limit }).into())
    }

    /// Reads and decompresses the data or fragment block at image byte `start` into `output`;
    /// returns its length.
    ///
    /// * `region`: the data area.
    /// * `input`: room for the bytes on disk; what it holds before and after does not matter.
    pub(crate) fn read_data_block(
        &self,
        region: Region,
        (part, start): (Part, u64),
        word: BlockWord,
        input: &mut Vec<u8>,
        output: &mut [u8],
    ) -> Result<usize, Error> {
        region.check(part, start, word.size_bytes().into())?;
        let size = usize::try_from(word.size_bytes()).unwrap_or(usize::MAX);
        if word.is_compressed() {
            input.resize(size, 0);
            self.read_exact(input, start)?;
            return self.decode(input, output, part, start);
        }
        let (limit, found) = (output.len() as u64, size as u64);
        let Some(output) = output.get_mut(..size) else {
            let rule = Rule::OutOfRange {
                field: "length of a stored block",
                found,
                low: 1,
                high: limit,
            };
            return Err(Corrupt::new(part, start, rule).into());
        };
        self.read_exact(output, start)?;
        Ok(size)
    }

    /// The data or fragment block at image byte `start` of at most `len_max` bytes, from the cache
    /// or read into it.
    pub(crate) fn data_block(
        &self,
        region: Region,
        at: (Part, u64),
        word: BlockWord,
        len_max: usize,
    ) -> Result<Arc<Vec<u8>>, Error> {
        // The word is part of the key: a damaged image may read the same bytes in two ways.
        let key = at.1 ^ u64::from(word.word()) << 38;
        if let Some(block) = self.data.get(key).filter(|block| block.len() <= len_max) {
            return Ok(block);
        }
        let mut content = vec![0; len_max];
        let len = self.read_data_block(region, at, word, &mut Vec::new(), &mut content)?;
        content.truncate(len);
        Ok(self.data.put(key, content))
    }
}

/// Fills `buf` with the bytes of `source` from `start` on.
pub(crate) fn read_exact(source: &dyn ReadAt, mut buf: &mut [u8], start: u64) -> Result<(), Error> {
    let mut at = start;
    while !buf.is_empty() {
        let len = match source.read_at(buf, at) {
            Ok(0) => {
                let source = io::ErrorKind::UnexpectedEof.into();
                return Err(Error::Read { start: at, source });
            }
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(Error::Read { start: at, source }),
        };
        buf = buf.get_mut(len..).unwrap_or_default();
        at = at.saturating_add(len as u64);
    }
    Ok(())
}
