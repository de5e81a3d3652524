//! Reading content on several threads, handed over in order and in bounded memory.
//!
//! ```text
//! pieces --batches--> jobs --read, on several threads--> chunks --in order--> visit
//! ```
//!
//! A job holds many small pieces or a few blocks: handing one over costs as much as reading a
//! small file.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use coldpress_codec::{Workers, ordered};
use coldpress_format::File;

use crate::error::Error;
use crate::file::{FileBlock, tail_bytes};
use crate::fragment_cache::FragmentCache;
use crate::image::Image;
use crate::pieces::{FilePieces, Piece};

/// Content that one job reads, if its blocks are no larger.
pub(crate) const JOB_BYTES: u64 = 256 << 10;
/// Fragment blocks that the files of one job may take their tail ends from, for the bound on
/// memory.
const JOB_FRAGMENTS: u64 = 4;
/// Jobs for each thread between taken and handed over: enough that no thread waits while one
/// writes.
const JOBS_PER_THREAD: usize = 4;
/// Zeros that are written as bytes; more of them take no memory.
const ZEROS_MAX_BYTES: u64 = 64 << 10;

/// What reading on several threads may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Threads that decompress.
    pub threads: NonZeroUsize,
    /// Memory for blocks in flight. A handful of blocks is used even if it is less.
    pub memory_bytes: u64,
}

impl ReadLimits {
    /// Half of the memory is for jobs, half for fragment blocks that are kept.
    pub(crate) fn workers(&self, block_bytes: u32) -> Workers {
        let job_bytes = JOB_BYTES + (JOB_FRAGMENTS + 1) * u64::from(block_bytes);
        let jobs = usize::try_from(self.memory_bytes / 2 / job_bytes).unwrap_or(usize::MAX);
        let most = self.threads.get().saturating_mul(JOBS_PER_THREAD);
        let window = NonZeroUsize::new(jobs.min(most)).unwrap_or(NonZeroUsize::MIN);
        Workers {
            threads: self.threads.min(window),
            window,
        }
    }

    /// How many fragment blocks are kept.
    pub(crate) fn fragments(&self, block_bytes: u32) -> usize {
        let count = self.memory_bytes / 2 / u64::from(block_bytes);
        usize::try_from(count).unwrap_or(usize::MAX)
    }
}

impl Image {
    /// Visits a range of a file from its beginning, decompressed on several threads.
    ///
    /// * `range`: bytes of the file; what is behind its end is left out.
    ///
    /// # Errors
    ///
    /// The first by position: as [`Image::read_at`], or whatever `visit` returns. All before it was
    /// visited.
    ///
    /// # Cost
    ///
    /// Reads and decompresses each block that has a byte of the range once; no thread is started
    /// for less than 256 KiB.
    pub fn visit_range<E: From<Error> + Send>(
        &self,
        file: &File,
        range: Range<u64>,
        limits: &ReadLimits,
        visit: &mut dyn FnMut(FileBlock) -> Result<(), E>,
    ) -> Result<(), E> {
        let len_bytes = range.end.min(file.size_bytes).saturating_sub(range.start);
        let mut limits = *limits;
        if len_bytes <= JOB_BYTES {
            limits.threads = NonZeroUsize::MIN;
        }
        let pieces = FilePieces::new(self, file.clone(), range, &mut FragmentCache::new(1))?;
        let nameless: Arc<[u8]> = Arc::default();
        let pieces = pieces.map(|piece| Ok((Arc::clone(&nameless), piece)));
        visit_in_order(self, &limits, pieces, visit)
    }
}

/// A piece, and the path of its file for errors; empty if the caller names it.
pub(crate) type NamedPiece = (Arc<[u8]>, Piece);

/// Visits pieces in their order.
pub(crate) fn visit_in_order<E: From<Error> + Send>(
    image: &Image,
    limits: &ReadLimits,
    pieces: impl Iterator<Item = Result<NamedPiece, E>>,
    visit: &mut dyn FnMut(FileBlock) -> Result<(), E>,
) -> Result<(), E> {
    let workers = limits.workers(image.superblock().block_size.bytes());
    let spare = Mutex::new(Vec::new());
    let batches = Batches {
        pieces,
        first: None,
    };
    ordered(
        batches,
        &workers,
        || Ok(Scratch::default()),
        |scratch, job| Ok(read(image, scratch, &spare, job)?),
        |chunks: Vec<Chunk>| {
            for chunk in chunks {
                match chunk {
                    Chunk::Zeros(len) => visit(FileBlock::Hole(len))?,
                    Chunk::Data(buffer) => {
                        visit(FileBlock::Data(buffer.content()))?;
                        let mut spare = spare.lock().unwrap_or_else(PoisonError::into_inner);
                        spare.push(buffer.bytes);
                    }
                }
            }
            Ok(())
        },
    )
}

/// Puts pieces together to jobs.
struct Batches<I, E> {
    pieces: I,
    /// What ended the last job: the first of the next.
    first: Option<Result<NamedPiece, E>>,
}

impl<I: Iterator<Item = Result<NamedPiece, E>>, E> Iterator for Batches<I, E> {
    type Item = Result<Vec<NamedPiece>, E>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut batch = Vec::new();
        let (mut len_bytes, mut fragments) = (0_u64, 0);
        let mut last_fragment = None;
        loop {
            let piece = match self.first.take().or_else(|| self.pieces.next()) {
                None if batch.is_empty() => return None,
                None => return Some(Ok(batch)),
                Some(Err(error)) if batch.is_empty() => return Some(Err(error)),
                // What stands before an error is handed over first.
                Some(Err(error)) => {
                    self.first = Some(Err(error));
                    return Some(Ok(batch));
                }
                Some(Ok(piece)) => piece,
            };
            if let Piece::Tail(block, _) = &piece.1
                && last_fragment.replace(block.fragment.start) != Some(block.fragment.start)
            {
                fragments += 1;
            }
            let in_memory = match piece.1 {
                Piece::Zeros(len) if len > ZEROS_MAX_BYTES => 0,
                _ => piece.1.len_bytes(),
            };
            let is_full = len_bytes.saturating_add(in_memory) > JOB_BYTES;
            if (is_full || fragments > JOB_FRAGMENTS) && !batch.is_empty() {
                self.first = Some(Ok(piece));
                return Some(Ok(batch));
            }
            len_bytes += in_memory;
            batch.push(piece);
        }
    }
}

/// Bytes to hand over.
enum Chunk {
    Data(Buffer),
    Zeros(u64),
}

/// Memory that is used again and so not cleared again: what is behind `len` is of earlier use.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    len: usize,
}

impl Buffer {
    fn content(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// The next `len` bytes, which hold anything.
    fn append(&mut self, len: usize) -> &mut [u8] {
        let start = self.len;
        self.len += len;
        if self.bytes.len() < self.len {
            self.bytes.resize(self.len, 0);
        }
        self.bytes.get_mut(start..self.len).unwrap_or_default()
    }
}

/// What a thread keeps from job to job.
#[derive(Default)]
struct Scratch {
    input: Vec<u8>,
    block: Vec<u8>,
}

/// Reads the pieces of a job.
fn read(
    image: &Image,
    scratch: &mut Scratch,
    spare: &Mutex<Vec<Vec<u8>>>,
    job: Vec<NamedPiece>,
) -> Result<Vec<Chunk>, Error> {
    let fresh = || {
        let mut spare = spare.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = spare.pop().unwrap_or_default();
        Buffer { bytes, len: 0 }
    };
    let (mut chunks, mut buffer) = (Vec::new(), fresh());
    for (path, piece) in job {
        match piece {
            Piece::Zeros(len) if len > ZEROS_MAX_BYTES => {
                let full = std::mem::replace(&mut buffer, fresh());
                chunks.extend([Chunk::Data(full), Chunk::Zeros(len)]);
            }
            piece => append(image, scratch, &mut buffer, &piece).map_err(|error| {
                if path.is_empty() {
                    error
                } else {
                    error.in_file(&path)
                }
            })?,
        }
    }
    chunks.push(Chunk::Data(buffer));
    Ok(chunks)
}

fn append(
    image: &Image,
    scratch: &mut Scratch,
    buffer: &mut Buffer,
    piece: &Piece,
) -> Result<(), Error> {
    let len = usize::try_from(piece.len_bytes()).unwrap_or(0);
    let output = buffer.append(len);
    match piece {
        Piece::Bytes(bytes) => output.copy_from_slice(bytes),
        Piece::Zeros(_) => output.fill(0),
        Piece::Block(block, wanted) => {
            let whole = usize::try_from(block.len).unwrap_or(0);
            if wanted.len() == whole {
                return image.read_data_block(block, &mut scratch.input, output);
            }
            scratch.block.resize(whole, 0);
            image.read_data_block(block, &mut scratch.input, &mut scratch.block)?;
            output.copy_from_slice(scratch.block.get(wanted.clone()).unwrap_or_default());
        }
        Piece::Tail(shared, range) => {
            let block = shared.content(image, &mut scratch.input)?;
            let bytes = tail_bytes(&block, range.tail, range.len, shared.fragment.start)?;
            output.copy_from_slice(bytes.get(range.wanted.clone()).unwrap_or_default());
        }
    }
    Ok(())
}
