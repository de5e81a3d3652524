//! Comparing the bytes of two files of equal length.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use coldpress_format::{File, Part, TailEnd};

use super::{DiffError, Side};
use crate::error::Error;
use crate::file::{DataBlock, data_blocks, tail_bytes, tail_len};
use crate::image::Image;

/// Two files of equal length and one path.
pub(super) struct Pair {
    /// Where its path comes in the walk.
    pub(super) place: usize,
    pub(super) path: Vec<u8>,
    pub(super) left: File,
    pub(super) right: File,
}

impl Pair {
    /// Where it lies in the left image, by fragment block first.
    pub(super) fn position(&self) -> (Option<u32>, u64) {
        (self.left.tail.map(|tail| tail.fragment), self.left.start)
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        let blocks = self.left.blocks.len() + self.right.blocks.len();
        size_of::<Self>() + self.path.len() + blocks * size_of::<u32>()
    }
}

/// What became of a pair.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The first byte of the file that differs.
    pub(super) differs_at: Option<u64>,
    /// Data blocks that are the same bytes, and that hold the same in other bytes.
    pub(super) equal: u64,
    pub(super) recompressed: u64,
    /// Bytes of the left image that hold the file, without its tail end.
    pub(super) left_bytes: u64,
}

/// Memory that a worker keeps.
#[derive(Default)]
pub(super) struct Buffers {
    left: Buffer,
    right: Buffer,
}

#[derive(Default)]
struct Buffer {
    stored: Vec<u8>,
    content: Vec<u8>,
}

/// Two images of which files are compared.
pub(super) struct Contents<'a> {
    left: &'a Image,
    right: &'a Image,
    /// Whether equal bytes on disk are equal content.
    is_one_compressor: bool,
    /// Fragment blocks of both, and whether they are the same bytes.
    fragments: Mutex<HashMap<(u32, u32), bool>>,
}

impl<'a> Contents<'a> {
    pub(super) fn new(left: &'a Image, right: &'a Image) -> Self {
        Self {
            left,
            right,
            is_one_compressor: left.superblock().compressor == right.superblock().compressor,
            fragments: Mutex::default(),
        }
    }

    pub(super) fn compare(&self, pair: &Pair, buffers: &mut Buffers) -> Result<Outcome, DiffError> {
        let failed =
            |side: Side| move |error: Error| DiffError::of(side)(error.in_file(&pair.path));
        let mut outcome = Outcome {
            left_bytes: stored_bytes(&pair.left),
            ..Outcome::default()
        };
        let mut left = Cursor::new(self.left, &pair.left, &mut buffers.left);
        let mut right = Cursor::new(self.right, &pair.right, &mut buffers.right);
        let mut offset = 0;
        while offset < pair.left.size_bytes {
            left.advance();
            right.advance();
            let is_same_block = match (&left.piece, &right.piece) {
                (Piece::Block(one), Piece::Block(other)) => one.len == other.len,
                _ => false,
            };
            if self.is_stored_alike(&mut left, &mut right, &failed)? {
                outcome.equal += u64::from(is_same_block);
                offset += left.take_all();
                right.take_all();
                continue;
            }
            left.decode().map_err(failed(Side::Left))?;
            right.decode().map_err(failed(Side::Right))?;
            let len = left.len().min(right.len());
            if len == 0 {
                // The lists of one of them end early; reading it whole says so.
                outcome.differs_at = Some(offset);
                return Ok(outcome);
            }
            if let Some(at) = differs(&left, &right, len) {
                outcome.differs_at = Some(offset + at);
                return Ok(outcome);
            }
            outcome.recompressed += u64::from(is_same_block);
            left.take(len);
            right.take(len);
            offset += len;
        }
        Ok(outcome)
    }

    /// Whether what comes next is the same on disk, so that it need not be decompressed.
    fn is_stored_alike<F: Fn(Error) -> DiffError>(
        &self,
        left: &mut Cursor,
        right: &mut Cursor,
        failed: &impl Fn(Side) -> F,
    ) -> Result<bool, DiffError> {
        match (&left.piece, &right.piece) {
            (Piece::Hole(one), Piece::Hole(other)) => Ok(one == other),
            (Piece::Block(one), Piece::Block(other)) => {
                if !self.is_one_compressor || (one.len, one.word) != (other.len, other.word) {
                    return Ok(false);
                }
                left.read().map_err(failed(Side::Left))?;
                right.read().map_err(failed(Side::Right))?;
                Ok(left.buffer.stored == right.buffer.stored)
            }
            (Piece::Tail(one, len), Piece::Tail(other, other_len)) => {
                if len != other_len || one.offset != other.offset || !self.is_one_compressor {
                    return Ok(false);
                }
                let key = (one.fragment, other.fragment);
                let lock = || {
                    self.fragments
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                };
                if let Some(known) = lock().get(&key) {
                    return Ok(*known);
                }
                let known = self.is_fragment_alike(left, right, key, failed)?;
                lock().insert(key, known);
                Ok(known)
            }
            _ => Ok(false),
        }
    }

    fn is_fragment_alike<F: Fn(Error) -> DiffError>(
        &self,
        left: &mut Cursor,
        right: &mut Cursor,
        (one, other): (u32, u32),
        failed: &impl Fn(Side) -> F,
    ) -> Result<bool, DiffError> {
        let tail = |fragment| TailEnd {
            fragment,
            offset: 0,
        };
        let found = self.left.fragment_of(tail(one)).map_err(Error::from);
        let one = found.map_err(failed(Side::Left))?;
        let found = self.right.fragment_of(tail(other)).map_err(Error::from);
        let other = found.map_err(failed(Side::Right))?;
        if one.size != other.size {
            return Ok(false);
        }
        let size_bytes = one.size.size_bytes();
        left.read_bytes(Part::FragmentBlock, one.start, size_bytes)
            .map_err(failed(Side::Left))?;
        right
            .read_bytes(Part::FragmentBlock, other.start, size_bytes)
            .map_err(failed(Side::Right))?;
        Ok(left.buffer.stored == right.buffer.stored)
    }
}

/// Bytes of the data area that a file's blocks take.
fn stored_bytes(file: &File) -> u64 {
    let sizes = file.blocks.iter().map(|word| u64::from(word.size_bytes()));
    sizes.fold(0, u64::saturating_add)
}

/// What of a file comes next.
enum Piece {
    End,
    /// So many zeros.
    Hole(u64),
    /// A data block that is not decompressed yet.
    Block(DataBlock),
    /// A tail end of this length that is not looked up yet.
    Tail(TailEnd, usize),
    /// The bytes of the buffer from this one on.
    Bytes(usize),
}

/// A file that is read from its beginning to its end.
struct Cursor<'a> {
    image: &'a Image,
    blocks: Box<dyn Iterator<Item = DataBlock> + 'a>,
    tail: Option<(TailEnd, usize)>,
    piece: Piece,
    /// Whether the bytes on disk of the data block that comes next were read.
    is_read: bool,
    buffer: &'a mut Buffer,
}

impl<'a> Cursor<'a> {
    fn new(image: &'a Image, file: &'a File, buffer: &'a mut Buffer) -> Self {
        let block_size = image.superblock().block_size;
        let len = tail_len(file, block_size);
        Self {
            image,
            blocks: Box::new(data_blocks(file, block_size)),
            tail: file.tail.map(|tail| (tail, len)).filter(|_| len > 0),
            piece: Piece::End,
            is_read: false,
            buffer,
        }
    }

    /// Goes on if what came before is taken.
    fn advance(&mut self) {
        if !matches!(self.piece, Piece::End) {
            return;
        }
        self.is_read = false;
        self.piece = match self.blocks.next() {
            Some(block) if block.word.is_sparse() => Piece::Hole(block.len.into()),
            Some(block) => Piece::Block(block),
            None => match self.tail.take() {
                Some((tail, len)) => Piece::Tail(tail, len),
                None => Piece::End,
            },
        };
    }

    /// Reads the bytes on disk of the data block that comes next.
    fn read(&mut self) -> Result<(), Error> {
        if let Piece::Block(block) = &self.piece {
            let (start, size_bytes) = (block.start, block.word.size_bytes());
            self.read_bytes(Part::DataBlock, start, size_bytes)?;
            self.is_read = true;
        }
        Ok(())
    }

    fn read_bytes(&mut self, part: Part, start: u64, size_bytes: u32) -> Result<(), Error> {
        let area = self.image.data_area();
        area.check(part, start, size_bytes.into())?;
        let stored = &mut self.buffer.stored;
        stored.resize(usize::try_from(size_bytes).unwrap_or(usize::MAX), 0);
        self.image.store.read_exact(stored, start)
    }

    /// Makes bytes of a data block or a tail end.
    fn decode(&mut self) -> Result<(), Error> {
        if let Piece::Block(block) = self.piece {
            if !self.is_read {
                self.read()?;
            }
            let Buffer { stored, content } = &mut *self.buffer;
            content.resize(usize::try_from(block.len).unwrap_or(usize::MAX), 0);
            self.image.decode_data_block(&block, stored, content)?;
            self.piece = Piece::Bytes(0);
        } else if let Piece::Tail(tail, len) = self.piece {
            let fragment = self.image.fragment_of(tail)?;
            let block = self.image.fragment_block(&fragment)?;
            let bytes = tail_bytes(&block, tail, len, fragment.start)?;
            self.buffer.content.clear();
            self.buffer.content.extend_from_slice(bytes);
            self.piece = Piece::Bytes(0);
        }
        Ok(())
    }

    /// The bytes at hand; none of a hole.
    fn bytes(&self) -> &[u8] {
        match self.piece {
            Piece::Bytes(from) => self.buffer.content.get(from..).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Bytes of the file up to the end of what comes next.
    fn len(&self) -> u64 {
        match &self.piece {
            Piece::End => 0,
            Piece::Hole(len) => *len,
            Piece::Block(block) => block.len.into(),
            Piece::Tail(_, len) => *len as u64,
            Piece::Bytes(_) => self.bytes().len() as u64,
        }
    }

    /// Leaves `len` bytes behind.
    fn take(&mut self, len: u64) {
        if len >= self.len() {
            self.piece = Piece::End;
            return;
        }
        match &mut self.piece {
            Piece::Hole(left) => *left -= len,
            Piece::Bytes(from) => *from += usize::try_from(len).unwrap_or(usize::MAX),
            _ => self.piece = Piece::End,
        }
    }

    /// Leaves all that comes next behind; returns how many bytes that were.
    fn take_all(&mut self) -> u64 {
        let len = self.len();
        self.piece = Piece::End;
        len
    }
}

/// The first of the next `len` bytes that differs.
fn differs(left: &Cursor, right: &Cursor, len: u64) -> Option<u64> {
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let of = |cursor: &'_ Cursor| matches!(cursor.piece, Piece::Hole(_));
    let (one, other) = (left.bytes(), right.bytes());
    match (of(left), of(right)) {
        (true, true) => None,
        (true, false) => not_zero(other.get(..len).unwrap_or_default()),
        (false, true) => not_zero(one.get(..len).unwrap_or_default()),
        (false, false) => mismatch(
            one.get(..len).unwrap_or_default(),
            other.get(..len).unwrap_or_default(),
        ),
    }
}

fn not_zero(bytes: &[u8]) -> Option<u64> {
    let at = bytes.iter().position(|byte| *byte != 0)?;
    Some(at as u64)
}

/// The first byte in which two slices differ.
pub(super) fn mismatch(left: &[u8], right: &[u8]) -> Option<u64> {
    // Equal slices, which most are, are compared by words.
    if left == right {
        return None;
    }
    let common = left
        .iter()
        .zip(right)
        .take_while(|(one, other)| one == other);
    Some(common.count() as u64)
}
