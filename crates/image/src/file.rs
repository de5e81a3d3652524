//! Reading the data of regular files.

use std::sync::Arc;

use coldpress_format::{BlockSize, BlockWord, Corrupt, File, Fragment, Part, Rule, TailEnd};

use crate::error::Error;
use crate::image::Image;

/// A piece of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileBlock<'a> {
    /// These bytes.
    Data(&'a [u8]),
    /// This many zeros, which take no space in the image.
    Hole(u64),
}

/// A data block of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataBlock {
    /// Byte of the file at which it begins.
    pub(crate) offset: u64,
    /// Image byte at which it starts.
    pub(crate) start: u64,
    /// Its size on disk.
    pub(crate) word: BlockWord,
    /// Its length, the block size for all but a file's last.
    pub(crate) len: u32,
}

/// The data blocks of a file in order, without its tail end.
///
/// Positions that would overflow end up outside every image and are refused when read.
pub(crate) fn data_blocks(
    file: &File,
    block_size: BlockSize,
) -> impl Iterator<Item = DataBlock> + '_ {
    data_blocks_from(file, block_size, 0, file.start)
}

/// The data blocks of a file from the block with index `first` on, which starts at image byte
/// `start`.
pub(crate) fn data_blocks_from(
    file: &File,
    block_size: BlockSize,
    first: usize,
    mut start: u64,
) -> impl Iterator<Item = DataBlock> + '_ {
    debug_assert!(
        !file.blocks.is_empty() || file.block_count(block_size) == 0,
        "the block list was not read"
    );
    let len_max = u64::from(block_size.bytes());
    let mut offset = len_max.saturating_mul(first as u64);
    file.blocks.iter().skip(first).map(move |word| {
        let len = file.size_bytes.saturating_sub(offset).min(len_max);
        let block = DataBlock {
            offset,
            start,
            word: *word,
            len: u32::try_from(len).unwrap_or(0),
        };
        start = start.saturating_add(word.size_bytes().into());
        offset = offset.saturating_add(len_max);
        block
    })
}

/// Bytes of a file that lie in a fragment block.
pub(crate) fn tail_len(file: &File, block_size: BlockSize) -> usize {
    usize::try_from(block_size.tail_bytes(file.size_bytes)).unwrap_or(0)
}

impl Image {
    /// The fragment block of a tail end.
    pub(crate) fn fragment_of(&self, tail: TailEnd) -> Result<Fragment, Corrupt> {
        let index = usize::try_from(tail.fragment).unwrap_or(usize::MAX);
        self.fragments().get(index).copied().ok_or_else(|| {
            let rule = Rule::OutOfRange {
                field: "fragment index",
                found: tail.fragment.into(),
                low: 0,
                high: (self.fragments().len() as u64).saturating_sub(1),
            };
            let start = self.superblock().fragment_table_start.unwrap_or(0);
            Corrupt::new(Part::FragmentTable, start, rule)
        })
    }

    /// Reads a data block into the start of `output`, which has at least its length; holes are
    /// the caller's to see.
    ///
    /// The kernel refuses a block of another length too (docs/format.md, "Data blocks").
    pub(crate) fn read_data_block(
        &self,
        block: &DataBlock,
        input: &mut Vec<u8>,
        output: &mut [u8],
    ) -> Result<(), Error> {
        let len = usize::try_from(block.len).unwrap_or(usize::MAX);
        let output = output.get_mut(..len).unwrap_or_default();
        let at = (Part::DataBlock, block.start);
        let found = self
            .store
            .read_data_block(self.data_area(), at, block.word, input, output)?;
        check_length(at, found, len)
    }

    /// Decompresses or copies the bytes on disk of a data block into `output` of its length.
    pub(crate) fn decode_data_block(
        &self,
        block: &DataBlock,
        bytes: &[u8],
        output: &mut [u8],
    ) -> Result<(), Error> {
        let at = (Part::DataBlock, block.start);
        let expected = output.len();
        if block.word.is_compressed() {
            let found = self.store.decode(bytes, output, at.0, at.1)?;
            return check_length(at, found, expected);
        }
        check_length(at, bytes.len(), expected)?;
        output.copy_from_slice(bytes);
        Ok(())
    }

    /// Reads a fragment block into `output`, which then has its length.
    pub(crate) fn read_fragment(
        &self,
        fragment: &Fragment,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<(), Error> {
        output.resize(self.block_len(), 0);
        let at = (Part::FragmentBlock, fragment.start);
        let area = self.data_area();
        let len = self
            .store
            .read_data_block(area, at, fragment.size, input, output)?;
        output.truncate(len);
        Ok(())
    }

    fn block_len(&self) -> usize {
        usize::try_from(self.superblock().block_size.bytes()).unwrap_or(usize::MAX)
    }

    /// The content of a fragment block, from the cache or read into it.
    pub(crate) fn fragment_block(&self, fragment: &Fragment) -> Result<Arc<Vec<u8>>, Error> {
        let at = (Part::FragmentBlock, fragment.start);
        self.store
            .data_block(self.data_area(), at, fragment.size, self.block_len())
    }

    /// Gives `visit` the tail end of a file, from byte `from` of it on.
    fn with_tail<R>(
        &self,
        file: &File,
        tail: TailEnd,
        visit: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, Error> {
        let fragment = self.fragment_of(tail)?;
        let block = self.fragment_block(&fragment)?;
        let len = tail_len(file, self.superblock().block_size);
        Ok(visit(tail_bytes(&block, tail, len, fragment.start)?))
    }

    /// Reads part of a regular file into `buf`.
    ///
    /// Holes read as zeros. Reading at or past the end returns 0, as `pread(2)` does.
    ///
    /// * `offset`: bytes from the start of the file.
    ///
    /// Returns the bytes written to `buf`, less than `buf.len()` only at the end of the file.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if a block lies outside the data area or decompresses to the wrong
    /// length; [`Error::Read`].
    ///
    /// # Cost
    ///
    /// One read and one decompression for each block that is not cached; blocks that are read
    /// only in part are cached, and so are fragment blocks. Adding up the sizes of the blocks
    /// before `offset`.
    pub fn read_at(&self, file: &File, offset: u64, buf: &mut [u8]) -> Result<usize, Error> {
        let left = file.size_bytes.saturating_sub(offset);
        let len = usize::try_from(left).map_or(buf.len(), |left| left.min(buf.len()));
        let buf = buf.get_mut(..len).unwrap_or_default();
        let end = offset.saturating_add(len as u64);
        let block_size = self.superblock().block_size;
        let first = block_size.full_blocks(offset);
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        let mut input = Vec::new();
        for block in data_blocks(file, block_size).skip(first) {
            if block.offset >= end {
                return Ok(len);
            }
            let block_end = block.offset.saturating_add(block.len.into());
            let Some((from, to)) = overlap((block.offset, block_end), (offset, end)) else {
                continue;
            };
            let Some(output) = buf.get_mut(to..to + (from.end - from.start)) else {
                continue;
            };
            if block.word.is_sparse() {
                output.fill(0);
            } else if from.end - from.start == usize::try_from(block.len).unwrap_or(0) {
                self.read_data_block(&block, &mut input, output)?;
            } else {
                let at = (Part::DataBlock, block.start);
                let len = usize::try_from(block.len).unwrap_or(0);
                let content = self
                    .store
                    .data_block(self.data_area(), at, block.word, len)?;
                check_length(at, content.len(), len)?;
                output.copy_from_slice(content.get(from).unwrap_or_default());
            }
        }
        if let Some(tail) = file.tail {
            let tail_start = file.size_bytes - u64::from(block_size.tail_bytes(file.size_bytes));
            if let Some((from, to)) = overlap((tail_start, file.size_bytes), (offset, end))
                && let Some(output) = buf.get_mut(to..to + (from.end - from.start))
            {
                self.with_tail(file, tail, |bytes| {
                    output.copy_from_slice(bytes.get(from).unwrap_or_default());
                })?;
            }
        }
        Ok(len)
    }

    /// Visits a whole file from its beginning in pieces of at most a block.
    ///
    /// # Errors
    ///
    /// As [`Image::read_at`], and whatever `visit` returns.
    ///
    /// # Cost
    ///
    /// Two blocks of memory. Only fragment blocks are cached.
    pub fn for_each_block<E: From<Error>>(
        &self,
        file: &File,
        visit: &mut dyn FnMut(FileBlock) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut input = Vec::new();
        let mut output = Vec::new();
        for block in data_blocks(file, self.superblock().block_size) {
            if block.word.is_sparse() {
                visit(FileBlock::Hole(block.len.into()))?;
                continue;
            }
            output.resize(usize::try_from(block.len).unwrap_or(0), 0);
            self.read_data_block(&block, &mut input, &mut output)?;
            visit(FileBlock::Data(&output))?;
        }
        if let Some(tail) = file.tail
            && tail_len(file, self.superblock().block_size) > 0
        {
            self.with_tail(file, tail, |bytes| visit(FileBlock::Data(bytes)))??;
        }
        Ok(())
    }
}

/// The bytes of a tail end in its decompressed fragment block.
///
/// * `start`: image byte of the fragment block, for errors.
pub(crate) fn tail_bytes(
    block: &[u8],
    tail: TailEnd,
    len: usize,
    start: u64,
) -> Result<&[u8], Corrupt> {
    let offset = usize::try_from(tail.offset).unwrap_or(usize::MAX);
    let bytes = block.get(offset..).and_then(|bytes| bytes.get(..len));
    bytes.ok_or_else(|| {
        let (needed, found) = (u64::from(tail.offset) + len as u64, block.len() as u64);
        Corrupt::new(
            Part::FragmentBlock,
            start,
            Rule::Truncated { needed, found },
        )
    })
}

pub(crate) fn check_length(
    (part, start): (Part, u64),
    found: usize,
    expected: usize,
) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    let rule = Rule::Mismatch {
        field: "decompressed length",
        found: found as u64,
        expected: expected as u64,
    };
    Err(Corrupt::new(part, start, rule).into())
}

/// What the range `wanted` takes of the range `there`: the bytes of `there`, and the byte of
/// `wanted` at which they go.
fn overlap(there: (u64, u64), wanted: (u64, u64)) -> Option<(std::ops::Range<usize>, usize)> {
    let (start, end) = (there.0.max(wanted.0), there.1.min(wanted.1));
    if start >= end {
        return None;
    }
    let from = usize::try_from(start - there.0).ok()?;
    let until = usize::try_from(end - there.0).ok()?;
    Some((from..until, usize::try_from(start - wanted.0).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_overlap_in_bytes_of_both() {
        for (there, wanted, expected) in [
            ((0, 10), (0, 10), Some((0..10, 0))),
            ((10, 20), (5, 12), Some((0..2, 5))),
            ((10, 20), (15, 99), Some((5..10, 0))),
            ((10, 20), (20, 30), None),
            ((10, 20), (0, 10), None),
        ] {
            assert_eq!(overlap(there, wanted), expected, "{there:?} {wanted:?}");
        }
    }

    #[test]
    fn the_last_data_block_of_a_file_without_tail_is_short() {
        let file = File {
            start: 100,
            size_bytes: 4096 * 2 + 5,
            blocks: vec![
                BlockWord::new(7, true),
                BlockWord::SPARSE,
                BlockWord::new(5, false),
            ],
            ..File::default()
        };
        let blocks: Vec<_> = data_blocks(&file, BlockSize::MIN)
            .map(|block| (block.offset, block.start, block.len))
            .collect();
        assert_eq!(blocks, [(0, 100, 4096), (4096, 107, 4096), (8192, 107, 5)]);
    }
}
