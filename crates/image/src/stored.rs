//! Blocks of the data area as they lie in the image, for copying them.

use coldpress_format::{BlockWord, File, Part, TailEnd};

use crate::error::Error;
use crate::file::data_blocks_from;
use crate::image::Image;

/// A data block or fragment block, and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredBlock {
    /// Image byte at which it starts.
    pub start: u64,
    /// Its size on disk, and whether it is compressed.
    pub word: BlockWord,
    /// Bytes that it holds: exactly of a data block, at most of a fragment block.
    pub len_bytes: u32,
    /// Whether it is a fragment block.
    pub is_fragment: bool,
}

impl StoredBlock {
    /// The image byte behind it.
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.word.size_bytes().into())
    }

    fn part(&self) -> Part {
        if self.is_fragment {
            Part::FragmentBlock
        } else {
            Part::DataBlock
        }
    }
}

impl Image {
    /// The data blocks of a file in order, sparse ones included, without its tail end.
    pub fn stored_blocks<'a>(&self, file: &'a File) -> impl Iterator<Item = StoredBlock> + use<'a> {
        let blocks = data_blocks_from(file, self.superblock().block_size, 0, file.start);
        blocks.map(|block| StoredBlock {
            start: block.start,
            word: block.word,
            len_bytes: block.len,
            is_fragment: false,
        })
    }

    /// The fragment block of a tail end; `None` if the image does not have it.
    pub fn stored_fragment(&self, tail: TailEnd) -> Option<StoredBlock> {
        let fragment = self.fragment_of(tail).ok()?;
        Some(StoredBlock {
            start: fragment.start,
            word: fragment.size,
            len_bytes: self.superblock().block_size.bytes(),
            is_fragment: true,
        })
    }

    /// Reads a block that is not sparse: what lies on disk into `stored`, what that holds into
    /// `content`.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if it lies outside the data area, does not decompress, or not to the
    /// length of the data block; [`Error::Read`].
    ///
    /// # Cost
    ///
    /// One read and one decompression; nothing is cached.
    pub fn read_stored(
        &self,
        block: &StoredBlock,
        stored: &mut Vec<u8>,
        content: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.read_undecoded(block, stored)?;
        content.resize(usize::try_from(block.len_bytes).unwrap_or(usize::MAX), 0);
        let found = self.decode_stored(block, stored, content)?;
        content.truncate(found);
        Ok(())
    }

    /// As [`Image::read_stored`], into room for `block.len_bytes`; returns the length.
    pub(crate) fn read_stored_into(
        &self,
        block: &StoredBlock,
        content: &mut [u8],
    ) -> Result<usize, Error> {
        let mut stored = Vec::new();
        self.read_undecoded(block, &mut stored)?;
        self.decode_stored(block, &stored, content)
    }

    /// What the bytes of a block on disk hold, into room for `block.len_bytes`; returns the length.
    pub(crate) fn decode_stored(
        &self,
        block: &StoredBlock,
        stored: &[u8],
        content: &mut [u8],
    ) -> Result<usize, Error> {
        let at = (block.part(), block.start);
        let len = usize::try_from(block.len_bytes).unwrap_or(usize::MAX);
        let found = if block.word.is_compressed() {
            self.store.decode(stored, content, at.0, at.1)?
        } else {
            stored.len()
        };
        if !block.is_fragment || found > len {
            crate::file::check_length(at, found, len)?;
        }
        if !block.word.is_compressed()
            && let Some(content) = content.get_mut(..found)
        {
            content.copy_from_slice(stored);
        }
        Ok(found)
    }

    /// Reads blocks that lie one behind the other as they lie on disk, in one read.
    pub(crate) fn read_neighbors<'a>(
        &self,
        blocks: impl Iterator<Item = &'a StoredBlock>,
        stored: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let (mut start, mut size_bytes) = (None, 0_u64);
        for block in blocks {
            let size = block.word.size_bytes().into();
            self.data_area().check(block.part(), block.start, size)?;
            start.get_or_insert(block.start);
            size_bytes += size;
        }
        stored.resize(usize::try_from(size_bytes).unwrap_or(usize::MAX), 0);
        self.store.read_exact(stored, start.unwrap_or(0))
    }

    /// Reads a block that is not sparse as it lies on disk, and does not look at what it holds.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if it lies outside the data area, [`Error::Read`].
    pub fn read_undecoded(&self, block: &StoredBlock, stored: &mut Vec<u8>) -> Result<(), Error> {
        let size_bytes = block.word.size_bytes();
        self.data_area()
            .check(block.part(), block.start, size_bytes.into())?;
        stored.resize(usize::try_from(size_bytes).unwrap_or(usize::MAX), 0);
        self.store.read_exact(stored, block.start)
    }
}
