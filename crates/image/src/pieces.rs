//! The content of files in pieces, lazily: what several threads decompress one after the other.

use std::ops::Range;
use std::sync::Arc;

use coldpress_format::{BlockSize, File, TailEnd};

use crate::error::Error;
use crate::file::{DataBlock, tail_len};
use crate::fragment_cache::{FragmentCache, SharedFragment};
use crate::image::Image;

/// Bytes that follow each other in what is written.
pub(crate) enum Piece {
    /// These.
    Bytes(Vec<u8>),
    /// This many zeros.
    Zeros(u64),
    /// A range of a data block, in its decompressed bytes.
    Block(DataBlock, Range<usize>),
    /// A range of a fragment block, in its decompressed bytes.
    Tail(Arc<SharedFragment>, TailRange),
}

/// A tail end, and what of it is wanted.
pub(crate) struct TailRange {
    pub(crate) tail: TailEnd,
    /// Bytes of the whole tail end.
    pub(crate) len: usize,
    pub(crate) wanted: Range<usize>,
}

impl Piece {
    /// How many bytes it stands for.
    pub(crate) fn len_bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Zeros(len) => *len,
            Self::Block(_, wanted) | Self::Tail(_, TailRange { wanted, .. }) => wanted.len() as u64,
        }
    }
}

/// The pieces of a range of a file, in order.
pub(crate) struct FilePieces {
    file: File,
    block_size: BlockSize,
    range: Range<u64>,
    next_block: usize,
    /// Image byte at which the next data block starts.
    next_start: u64,
    tail: Option<(TailEnd, Arc<SharedFragment>)>,
}

impl FilePieces {
    /// * `range`: bytes of the file; what is behind its end is left out.
    pub(crate) fn new(
        image: &Image,
        file: File,
        range: Range<u64>,
        fragments: &mut FragmentCache,
    ) -> Result<Self, Error> {
        let block_size = image.superblock().block_size;
        debug_assert!(
            !file.blocks.is_empty() || file.block_count(block_size) == 0,
            "the block list was not read"
        );
        let tail = file.tail.filter(|_| tail_len(&file, block_size) > 0);
        let tail = tail.map(|tail| Ok::<_, Error>((tail, fragments.of(image, tail)?)));
        let range = range.start..range.end.min(file.size_bytes);
        Ok(Self {
            block_size,
            next_block: 0,
            next_start: file.start,
            tail: tail.transpose()?,
            range,
            file,
        })
    }

    fn next_data(&mut self) -> Option<Piece> {
        while let Some(word) = self.file.blocks.get(self.next_block).copied() {
            let block_bytes = u64::from(self.block_size.bytes());
            let offset = block_bytes.saturating_mul(self.next_block as u64);
            if offset >= self.range.end {
                return None;
            }
            let len = self.file.size_bytes.saturating_sub(offset).min(block_bytes);
            let block = DataBlock {
                offset,
                start: self.next_start,
                word,
                len: u32::try_from(len).unwrap_or(0),
            };
            self.next_block += 1;
            self.next_start = self.next_start.saturating_add(word.size_bytes().into());
            let Some(wanted) = self.wanted(offset, len) else {
                continue;
            };
            return Some(if word.is_sparse() {
                Piece::Zeros(wanted.len() as u64)
            } else {
                Piece::Block(block, wanted)
            });
        }
        None
    }

    fn next_tail(&mut self) -> Option<Piece> {
        let (tail, block) = self.tail.take()?;
        let len = tail_len(&self.file, self.block_size);
        let offset = self.file.size_bytes.saturating_sub(len as u64);
        let wanted = self.wanted(offset, len as u64)?;
        Some(Piece::Tail(block, TailRange { tail, len, wanted }))
    }

    /// What of the `len` bytes from `offset` on lies in the range, counted from `offset`.
    fn wanted(&self, offset: u64, len: u64) -> Option<Range<usize>> {
        let start = self.range.start.max(offset);
        let end = self.range.end.min(offset.saturating_add(len));
        if start >= end {
            return None;
        }
        let within = |byte: u64| usize::try_from(byte - offset).ok();
        Some(within(start)?..within(end)?)
    }
}

impl Iterator for FilePieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        self.next_data().or_else(|| self.next_tail())
    }
}
