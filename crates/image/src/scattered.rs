//! Ranges of many files at once: each block is read and decompressed once, in image order.
//!
//! ```text
//! ranges --plan--> pieces by block --jobs--> read, on several threads --in order--> visit
//! ```
//!
//! Who reads thousands of small files in an order of their own, as a shuffled epoch does, would
//! otherwise decompress a block again for each file in it.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use coldpress_codec::ordered;
use coldpress_format::{Corrupt, File, Part, Rule};

use crate::error::Error;
use crate::file::tail_len;
use crate::image::Image;
use crate::in_order::{JOB_BYTES, ReadLimits};
use crate::stored::StoredBlock;

/// A range of a file that is wanted.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// The file, with its block list.
    pub file: &'a File,
    /// Bytes of it; what is behind its end is left out.
    pub range: Range<u64>,
}

/// A piece of a wanted range, or why it cannot be had.
#[derive(Debug)]
pub struct Delivery<'a> {
    /// Which range it belongs to: an index in what was asked for.
    pub wanted: usize,
    /// Where it belongs: bytes from the beginning of that range.
    pub offset: u64,
    /// The bytes.
    pub bytes: Result<&'a [u8], &'a Error>,
    /// Whether nothing else comes of that range.
    pub is_last: bool,
}

/// What a range takes of a block.
struct Piece {
    block: StoredBlock,
    /// Bytes of the decompressed block.
    within: Range<usize>,
    wanted: usize,
    offset: u64,
    is_last: bool,
}

impl Piece {
    /// What two pieces of the same block have in common.
    fn key(&self) -> (u64, u32, u32, bool) {
        let block = &self.block;
        (
            block.start,
            block.word.word(),
            block.len_bytes,
            block.is_fragment,
        )
    }
}

impl Image {
    /// Visits ranges of many files in the order in which the image stores them.
    ///
    /// Holes are not delivered: what no delivery fills reads as zeros. A block that cannot be read
    /// is delivered as an error to each range that has a part of it, and the others go on.
    ///
    /// * `visit`: takes what one job read.
    ///
    /// # Errors
    ///
    /// What `visit` returns.
    ///
    /// # Cost
    ///
    /// Reads and decompresses each block that has a wanted byte once. Takes some 80 bytes of memory
    /// for each piece of a range in a block, and what `limits` allows for blocks.
    pub fn visit_ranges<E: Send>(
        &self,
        wanted: &[Wanted<'_>],
        limits: &ReadLimits,
        visit: &mut dyn FnMut(&[Delivery<'_>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (pieces, refused) = self.pieces(wanted);
        for (wanted, corrupt) in refused {
            let error = Error::from(corrupt);
            let (bytes, is_last) = (Err(&error), true);
            visit(&[Delivery {
                wanted,
                offset: 0,
                bytes,
                is_last,
            }])?;
        }
        let mut workers = limits.workers(self.superblock().block_size.bytes());
        let jobs = Jobs { rest: &pieces };
        if (Jobs { rest: &pieces }).nth(1).is_none() {
            workers.threads = NonZeroUsize::MIN;
        }
        let spare = Mutex::new(Vec::new());
        ordered(
            jobs.map(Ok),
            &workers,
            || Ok(Vec::new()),
            |input, job: &[Piece]| {
                let bytes = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let read = Read::of(self, job, bytes.unwrap_or_default(), input);
                Ok((job, read))
            },
            |(job, read)| {
                visit(&read.deliveries(job))?;
                let mut spare = spare.lock().unwrap_or_else(PoisonError::into_inner);
                spare.push(read.bytes);
                Ok(())
            },
        )
    }

    /// What each range takes of which block, by image byte, and ranges of files without a block
    /// that they name.
    fn pieces(&self, wanted: &[Wanted<'_>]) -> (Vec<Piece>, Vec<(usize, Corrupt)>) {
        let (mut pieces, mut refused) = (Vec::new(), Vec::new());
        for (index, wanted) in wanted.iter().enumerate() {
            let count = pieces.len();
            if let Err(corrupt) = self.pieces_of(index, wanted, &mut pieces) {
                pieces.truncate(count);
                refused.push((index, corrupt));
            }
        }
        pieces.sort_unstable_by_key(|piece| (piece.key(), piece.wanted, piece.offset));
        let mut last = HashMap::new();
        for (at, piece) in pieces.iter().enumerate() {
            last.insert(piece.wanted, at);
        }
        for at in last.into_values() {
            if let Some(piece) = pieces.get_mut(at) {
                piece.is_last = true;
            }
        }
        (pieces, refused)
    }

    fn pieces_of(
        &self,
        wanted: usize,
        asked: &Wanted<'_>,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Corrupt> {
        let (file, range) = (asked.file, &asked.range);
        let end = range.end.min(file.size_bytes);
        let mut add = |block: StoredBlock, at: u64, len: u64, offset_in_block: u64| {
            let (from, until) = (range.start.max(at), end.min(at.saturating_add(len)));
            if from >= until {
                return;
            }
            let within = |byte: u64| usize::try_from(byte - at + offset_in_block);
            if let (Ok(first), Ok(behind)) = (within(from), within(until)) {
                pieces.push(Piece {
                    block,
                    within: first..behind,
                    wanted,
                    offset: from - range.start,
                    is_last: false,
                });
            }
        };
        let mut at = 0_u64;
        for block in self.stored_blocks(file) {
            if at >= end {
                return Ok(());
            }
            let len = u64::from(block.len_bytes);
            if !block.word.is_sparse() {
                add(block, at, len, 0);
            }
            at = at.saturating_add(len);
        }
        let tail_bytes = tail_len(file, self.superblock().block_size) as u64;
        if let Some(tail) = file.tail
            && tail_bytes > 0
        {
            let fragment = self.fragment_of(tail)?;
            let block = StoredBlock {
                start: fragment.start,
                word: fragment.size,
                len_bytes: self.superblock().block_size.bytes(),
                is_fragment: true,
            };
            let at = file.size_bytes.saturating_sub(tail_bytes);
            add(block, at, tail_bytes, tail.offset.into());
        }
        Ok(())
    }
}

/// Cuts pieces that are sorted by block into jobs; those of one block stay together.
struct Jobs<'a> {
    rest: &'a [Piece],
}

impl<'a> Iterator for Jobs<'a> {
    type Item = &'a [Piece];

    fn next(&mut self) -> Option<Self::Item> {
        let (mut count, mut len_bytes) = (0, 0);
        for block in self.rest.chunk_by(|a, b| a.key() == b.key()) {
            let block_bytes = block.first().map_or(0, |piece| piece.block.len_bytes);
            len_bytes += u64::from(block_bytes);
            if count > 0 && len_bytes > JOB_BYTES {
                break;
            }
            count += block.len();
        }
        let (job, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        (!job.is_empty()).then_some(job)
    }
}

/// What a job has read.
struct Read {
    /// The blocks, one behind the other. Memory that is used again: what is behind the last block
    /// is of earlier use.
    bytes: Vec<u8>,
    /// For each piece where its bytes are.
    pieces: Vec<Result<Range<usize>, Arc<Error>>>,
}

impl Read {
    fn of(image: &Image, job: &[Piece], bytes: Vec<u8>, input: &mut Vec<u8>) -> Self {
        let blocks: Vec<&[Piece]> = job.chunk_by(|a, b| a.key() == b.key()).collect();
        let mut read = Self {
            bytes,
            pieces: Vec::with_capacity(job.len()),
        };
        let mut len = 0;
        // Neighbors in one read: for a disk and for a server a read costs more than its bytes.
        for run in blocks.chunk_by(|a, b| stored(a).end() == stored(b).start) {
            let together = image.read_neighbors(run.iter().map(|pieces| stored(pieces)), input);
            let mut rest = input.as_slice();
            for pieces in run {
                let block = stored(pieces);
                let size = usize::try_from(block.word.size_bytes()).unwrap_or(usize::MAX);
                let max = usize::try_from(block.len_bytes).unwrap_or(usize::MAX);
                if read.bytes.len() < len + max {
                    read.bytes.resize(len + max, 0);
                }
                let output = read.bytes.get_mut(len..len + max).unwrap_or_default();
                let found = match (&together, rest.split_at_checked(size)) {
                    (Ok(()), Some((of_block, behind))) => {
                        rest = behind;
                        image.decode_stored(block, of_block, output)
                    }
                    _ => image.read_stored_into(block, output),
                };
                read.share(pieces, len, found);
                len += max;
            }
        }
        read
    }

    /// Gives each piece its part of a block that begins at byte `start` of `bytes`.
    fn share(&mut self, pieces: &[Piece], start: usize, found: Result<usize, Error>) {
        let found = found.map_err(Arc::new);
        for piece in pieces {
            let Range { start: from, end } = piece.within;
            self.pieces.push(match &found {
                Ok(len) if *len < end => {
                    let (needed, found) = (end as u64, *len as u64);
                    let rule = Rule::Truncated { needed, found };
                    let corrupt = Corrupt::new(Part::FragmentBlock, piece.block.start, rule);
                    Err(Arc::new(corrupt.into()))
                }
                Ok(_) => Ok(start + from..start + end),
                Err(error) => Err(Arc::clone(error)),
            });
        }
    }

    fn deliveries<'a>(&'a self, job: &[Piece]) -> Vec<Delivery<'a>> {
        let pieces = job.iter().zip(&self.pieces);
        let delivery = |(piece, read): (&Piece, &'a Result<Range<usize>, Arc<Error>>)| Delivery {
            wanted: piece.wanted,
            offset: piece.offset,
            bytes: match read {
                Ok(range) => Ok(self.bytes.get(range.clone()).unwrap_or_default()),
                Err(error) => Err(&**error),
            },
            is_last: piece.is_last,
        };
        pieces.map(delivery).collect()
    }
}

/// The block of pieces that share one.
fn stored(pieces: &[Piece]) -> &StoredBlock {
    &pieces[0].block
}
