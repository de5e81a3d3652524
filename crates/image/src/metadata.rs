//! Reading the bytes of a table as one stream, across its metadata blocks.

use std::sync::Arc;

use coldpress_format::{Corrupt, METADATA_BLOCK_SIZE, MetadataHeader, Part, Rule};

use crate::error::Error;
use crate::region::Region;
use crate::store::{MetadataBlock, Store};

/// Bytes allocated before any byte of a list was seen.
const FIRST_ALLOCATION_BYTES: u64 = 64 << 10;

/// A position in a stream of metadata blocks.
///
/// Blocks need not hold 8192 bytes: references name the image byte of a block, so shorter ones
/// work, in the kernel too, and an image made for recording has them.
#[derive(Clone)]
pub(crate) struct Stream<'a> {
    store: &'a Store,
    region: Region,
    part: Part,
    block: Arc<MetadataBlock>,
    offset: usize,
}

impl<'a> Stream<'a> {
    /// The stream of `region` from byte `offset` of the block at `block_start` on.
    ///
    /// * `part`: what is read, for errors.
    /// * `block_start`: bytes from the start of the region.
    pub(crate) fn open(
        store: &'a Store,
        region: Region,
        part: Part,
        block_start: u64,
        offset: u16,
    ) -> Result<Self, Error> {
        let start = region.start.saturating_add(block_start);
        let block = store.metadata_block(start, region)?;
        let offset = usize::from(offset);
        if offset >= block.content.len() {
            let rule = Rule::OutOfRange {
                field: "offset in the metadata block",
                found: offset as u64,
                low: 0,
                high: block.content.len() as u64 - 1,
            };
            return Err(Corrupt::new(part, start, rule).into());
        }
        Ok(Self {
            store,
            region,
            part,
            block,
            offset,
        })
    }

    /// Image byte of the metadata block that holds the next byte.
    pub(crate) fn block_start(&self) -> u64 {
        self.block.start
    }

    /// First image byte that must be read for the next byte: the byte itself in a stored block,
    /// the start of a compressed one.
    pub(crate) fn first_image_byte(&self) -> u64 {
        if self.block.stored {
            self.block.start + MetadataHeader::SIZE + self.offset as u64
        } else {
            self.block.start
        }
    }

    /// Image byte behind the last one that had to be read for what was read.
    pub(crate) fn end_image_byte(&self) -> u64 {
        if self.block.stored {
            self.first_image_byte()
        } else {
            self.block.next
        }
    }

    /// Where the next byte lies: the image byte of its metadata block, and the offset in it. Behind
    /// the last byte of a block the offset is the block's length.
    pub(crate) fn place(&self) -> (u64, u64) {
        (self.block.start, self.offset as u64)
    }

    fn rest(&self) -> &[u8] {
        self.block.content.get(self.offset..).unwrap_or_default()
    }

    /// Goes on to the next block; `false` at the end of the region.
    fn next_block(&mut self) -> Result<bool, Error> {
        if self.block.next >= self.region.end {
            return Ok(false);
        }
        self.block = self.store.metadata_block(self.block.next, self.region)?;
        self.offset = 0;
        Ok(true)
    }

    /// Fills as much of `buf` as the region has bytes for; returns how many.
    pub(crate) fn read(&mut self, buf: &mut [u8]) -> Result<usize, Error> {
        let mut filled = 0;
        loop {
            let wanted = buf.get_mut(filled..).unwrap_or_default();
            let len = wanted.len().min(self.rest().len());
            if let (Some(to), Some(from)) = (wanted.get_mut(..len), self.rest().get(..len)) {
                to.copy_from_slice(from);
            }
            self.offset += len;
            filled += len;
            if filled == buf.len() || !self.next_block()? {
                return Ok(filled);
            }
        }
    }

    /// Fills `buf`.
    pub(crate) fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), Error> {
        let found = self.read(buf)?;
        if found < buf.len() {
            return Err(self.truncated(buf.len() as u64, found as u64));
        }
        Ok(())
    }

    /// The next `N` bytes.
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        self.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Moves `len` bytes on.
    pub(crate) fn skip(&mut self, mut len: usize) -> Result<(), Error> {
        while len > self.rest().len() {
            len -= self.rest().len();
            if !self.next_block()? {
                return Err(self.truncated(len as u64, 0));
            }
        }
        self.offset += len;
        Ok(())
    }

    /// The next `len_bytes` bytes.
    ///
    /// Memory grows with the bytes found, not with `len_bytes`.
    pub(crate) fn read_vec(&mut self, len_bytes: u64) -> Result<Vec<u8>, Error> {
        self.read_vec_by_block(len_bytes, &mut |_, _| {})
    }

    /// As [`Self::read_vec`]; tells for each metadata block how many bytes stand before it and at
    /// which image byte it starts.
    pub(crate) fn read_vec_by_block(
        &mut self,
        len_bytes: u64,
        block: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<u8>, Error> {
        let capacity = usize::try_from(len_bytes.min(FIRST_ALLOCATION_BYTES)).unwrap_or(0);
        let mut bytes = Vec::with_capacity(capacity);
        self.read_into(&mut bytes, len_bytes, block)?;
        Ok(bytes)
    }

    /// As [`Self::read_vec_by_block`]; where it fails, `bytes` holds what could be read.
    pub(crate) fn read_into(
        &mut self,
        bytes: &mut Vec<u8>,
        len_bytes: u64,
        block: &mut dyn FnMut(u64, u64),
    ) -> Result<(), Error> {
        self.check_room(len_bytes)?;
        while (bytes.len() as u64) < len_bytes {
            if self.rest().is_empty() && !self.next_block()? {
                return Err(self.truncated(len_bytes, bytes.len() as u64));
            }
            block(bytes.len() as u64, self.block.start);
            let left = usize::try_from(len_bytes - bytes.len() as u64).unwrap_or(usize::MAX);
            let len = left.min(self.rest().len());
            bytes.extend_from_slice(self.rest().get(..len).unwrap_or_default());
            self.offset += len;
        }
        Ok(())
    }

    /// Refuses a length that the rest of the region cannot hold, without reading it.
    pub(crate) fn check_room(&self, len_bytes: u64) -> Result<(), Error> {
        let bound = self.bytes_max();
        if len_bytes > bound {
            return Err(self.truncated(len_bytes, bound));
        }
        Ok(())
    }

    /// The most bytes that the rest of the region can hold: a block takes at least 3 bytes.
    fn bytes_max(&self) -> u64 {
        let on_disk = self.region.end.saturating_sub(self.block.next);
        let blocks = on_disk / (MetadataHeader::SIZE + 1);
        let behind = blocks.saturating_mul(METADATA_BLOCK_SIZE as u64);
        behind.saturating_add(self.rest().len() as u64)
    }

    fn truncated(&self, needed: u64, found: u64) -> Error {
        let rule = Rule::Truncated { needed, found };
        Corrupt::new(self.part, self.block.start, rule).into()
    }
}
