//! Comparing the bytes of two files of equal length.

mod cursor;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use coldpress_format::{File, Part, TailEnd};

use super::{DiffError, Side};
use crate::error::Error;
use crate::image::Image;
use cursor::{Buffer, Cursor, Piece};

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
