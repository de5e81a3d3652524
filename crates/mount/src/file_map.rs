//! Where the blocks of a file lie.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use coldpress_format::{BlockSize, Corrupt, File, Part, Rule, TailEnd};
use coldpress_image::{Image, StoredBlock};

use crate::cache::Weight;

/// Every so many blocks it is noted where one starts, so that a read in the middle of a large file
/// adds up few sizes.
const MARK_BLOCKS: usize = 256;

/// A file, and where its blocks start.
pub(crate) struct FileMap {
    file: File,
    block_size: BlockSize,
    /// Where each [`MARK_BLOCKS`]th block starts.
    marks: Vec<u64>,
    tail: Option<(StoredBlock, TailEnd)>,
    /// Where the read that came last ended.
    read_end: AtomicU64,
}

/// Bytes of a file that follow each other.
pub(crate) enum Piece {
    /// This many zeros.
    Zeros(usize),
    /// A range of what a block holds.
    Block(StoredBlock, Range<usize>),
}

impl Weight for FileMap {
    fn weight_bytes(&self) -> u64 {
        let words = self.file.blocks.len() as u64 * 4;
        words + self.marks.len() as u64 * 8 + size_of::<Self>() as u64
    }
}

impl FileMap {
    /// Notes where the blocks lie.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if the tail end is in a fragment block that the image does not have.
    pub(crate) fn new(image: &Image, file: File) -> Result<Self, Corrupt> {
        let block_size = image.superblock().block_size;
        let mut marks = Vec::with_capacity(file.blocks.len().div_ceil(MARK_BLOCKS));
        let mut start = file.start;
        for blocks in file.blocks.chunks(MARK_BLOCKS) {
            marks.push(start);
            start = blocks.iter().fold(start, |start, word| {
                // What would overflow is outside of every image and refused when it is read.
                start.saturating_add(word.size_bytes().into())
            });
        }
        let tail = file
            .tail
            .filter(|_| block_size.tail_bytes(file.size_bytes) > 0);
        let tail = tail.map(|tail| match image.stored_fragment(tail) {
            Some(fragment) => Ok((fragment, tail)),
            None => Err(no_fragment(image, tail)),
        });
        Ok(Self {
            block_size,
            marks,
            tail: tail.transpose()?,
            read_end: AtomicU64::new(0),
            file,
        })
    }

    /// Length of the file.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.file.size_bytes
    }

    /// Notes a read; returns whether it goes on where the one before it ended. The first one does
    /// not: most programs look at the beginning of a file only.
    pub(crate) fn goes_on(&self, read: &Range<u64>) -> bool {
        let before = self.read_end.swap(read.end, Ordering::Relaxed);
        before > 0 && before == read.start
    }

    /// Whether a read goes on where the one before it ended, without noting it.
    pub(crate) fn would_go_on(&self, read: &Range<u64>) -> bool {
        read.start > 0 && self.read_end.load(Ordering::Relaxed) == read.start
    }

    /// The file, as its inode has it.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Where the block ends in which a byte of the file lies.
    pub(crate) fn block_end(&self, offset: u64) -> u64 {
        let block_bytes = u64::from(self.block_size.bytes());
        (offset / block_bytes)
            .saturating_add(1)
            .saturating_mul(block_bytes)
    }

    /// What makes up a range of the file, in order; what is behind its end is left out.
    pub(crate) fn pieces(&self, range: Range<u64>) -> impl Iterator<Item = Piece> + '_ {
        let end = range.end.min(self.file.size_bytes);
        let block_bytes = u64::from(self.block_size.bytes());
        let first = usize::try_from(range.start / block_bytes).unwrap_or(usize::MAX);
        let last = usize::try_from(end.div_ceil(block_bytes)).unwrap_or(usize::MAX);
        let start = range.start;
        (first..last).filter_map(move |index| {
            let offset = block_bytes.saturating_mul(index as u64);
            let len = self.file.size_bytes.saturating_sub(offset).min(block_bytes);
            let from = usize::try_from(start.saturating_sub(offset)).ok()?;
            let until = usize::try_from(end.saturating_sub(offset).min(len)).ok()?;
            self.piece(index, len, from..until)
        })
    }

    /// * `len`: bytes of the file that the block has.
    /// * `wanted`: of these.
    fn piece(&self, index: usize, len: u64, wanted: Range<usize>) -> Option<Piece> {
        if wanted.is_empty() {
            return None;
        }
        let Some(word) = self.file.blocks.get(index) else {
            // Blocks and tail end make up the whole file, by how its inode was read.
            let (fragment, tail) = self.tail?;
            let offset = usize::try_from(tail.offset).ok()?;
            let within = offset.checked_add(wanted.start)?..offset.checked_add(wanted.end)?;
            return Some(Piece::Block(fragment, within));
        };
        if word.is_sparse() {
            return Some(Piece::Zeros(wanted.len()));
        }
        let block = StoredBlock {
            start: self.start_of(index),
            word: *word,
            len_bytes: u32::try_from(len).unwrap_or(0),
            is_fragment: false,
        };
        Some(Piece::Block(block, wanted))
    }

    /// Image byte at which a block starts.
    fn start_of(&self, index: usize) -> u64 {
        let mark = index / MARK_BLOCKS;
        let start = self.marks.get(mark).copied().unwrap_or(u64::MAX);
        let before = self.file.blocks.get(mark * MARK_BLOCKS..index);
        let sizes = before.unwrap_or_default().iter();
        sizes.fold(start, |start, word| {
            start.saturating_add(word.size_bytes().into())
        })
    }
}

fn no_fragment(image: &Image, tail: TailEnd) -> Corrupt {
    let rule = Rule::OutOfRange {
        field: "fragment index",
        found: tail.fragment.into(),
        low: 0,
        high: (image.fragments().len() as u64).saturating_sub(1),
    };
    let start = image.superblock().fragment_table_start.unwrap_or(0);
    Corrupt::new(Part::FragmentTable, start, rule)
}

#[cfg(test)]
mod tests {
    use coldpress_format::BlockWord;

    use super::*;

    fn map(size_bytes: u64, count: usize) -> FileMap {
        let word = |index: usize| match index % 3 {
            0 => BlockWord::SPARSE,
            step => BlockWord::new(u32::try_from(step).unwrap(), true),
        };
        let file = File {
            start: 1000,
            size_bytes,
            blocks: (0..count).map(word).collect(),
            ..File::default()
        };
        let image = coldpress_nasty::image(false).bytes;
        FileMap::new(&Image::new(Box::new(image)).unwrap(), file).unwrap()
    }

    #[test]
    fn a_read_goes_on_where_the_one_before_ended() {
        let map = map(4096 * 1000, 1000);
        for (range, expected) in [
            (0..4096, false),
            (4096..5000, true),
            (5000..9000, true),
            (5000..9000, false),
            (0..4096, false),
            (8192..9000, false),
        ] {
            assert_eq!(map.goes_on(&range), expected, "{range:?}");
        }
        for (offset, end) in [(0, 4096), (4095, 4096), (4096, 8192), (u64::MAX, u64::MAX)] {
            assert_eq!(map.block_end(offset), end);
        }
    }

    #[test]
    fn a_block_starts_behind_all_before_it() {
        let map = map(4096 * 1000, 1000);
        let mut start = 1000;
        for (index, word) in map.file.blocks.iter().enumerate() {
            assert_eq!(map.start_of(index), start, "{index}");
            start += u64::from(word.size_bytes());
        }
    }

    #[test]
    fn pieces_are_the_range_and_end_with_the_file() {
        // Holes, blocks of 1 and of 2 bytes on disk in turn; the last block has 5 bytes.
        let map = map(4096 * 6 + 5, 7);
        for (range, expected) in [
            (0..4096, &["zeros 4096"][..]),
            (4000..4196, &["zeros 96", "block 1000 0..100"]),
            (4097..4098, &["block 1000 1..2"]),
            (8192..8193, &["block 1001 0..1"]),
            (
                8190..16_390,
                &[
                    "block 1000 4094..4096",
                    "block 1001 0..4096",
                    "zeros 4096",
                    "block 1003 0..6",
                ],
            ),
            (24_576..99_999, &["zeros 5"]),
            (24_581..99_999, &[]),
            (5..5, &[]),
            (u64::MAX - 1..u64::MAX, &[]),
        ] {
            let pieces = map.pieces(range.clone()).map(|piece| match piece {
                Piece::Zeros(len) => format!("zeros {len}"),
                Piece::Block(block, within) => format!("block {} {within:?}", block.start),
            });
            assert_eq!(pieces.collect::<Vec<_>>(), expected, "{range:?}");
        }
    }
}
