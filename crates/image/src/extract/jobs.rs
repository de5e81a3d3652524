//! What is to be written, in pieces for one thread each and in the order of the image.

use std::iter::Peekable;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::vec;

use coldpress_format::File;

use super::metadata::UNFINISHED;
use super::parts::Parts;
use super::tree::Tree;
use crate::error::Error;
use crate::file::{DataBlock, data_blocks_from};

/// Content of a large file that one job writes, if memory allows: longer pieces are no faster.
const CHUNK_BYTES: u64 = 1 << 20;
/// Content of small files that one job writes; handing over a job costs as much as a small file.
const BATCH_BYTES: u64 = 256 << 10;
/// Small files that one job writes.
const BATCH_FILES: usize = 64;

/// How much is done at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Threads that write.
    pub(super) threads: NonZeroUsize,
    /// Content of a file that one job writes, a multiple of the block size.
    pub(super) chunk_bytes: u64,
}

impl Limits {
    /// The limits by which two buffers of a chunk for each thread fit in `memory_bytes`.
    pub(super) fn new(threads: NonZeroUsize, memory_bytes: u64, block_bytes: u32) -> Self {
        let block_bytes = u64::from(block_bytes);
        let most = usize::try_from(memory_bytes / (2 * block_bytes)).unwrap_or(usize::MAX);
        let threads = NonZeroUsize::new(most).map_or(NonZeroUsize::MIN, |most| most.min(threads));
        let share = memory_bytes / 2 / threads.get() as u64;
        let blocks = share.min(CHUNK_BYTES) / block_bytes;
        Self {
            threads,
            chunk_bytes: blocks.max(1) * block_bytes,
        }
    }
}

/// A piece of work for one thread.
pub(super) enum Job {
    /// These files, whole; none has a tail end.
    Files(Vec<usize>),
    /// Some blocks of a file that was created.
    Chunk(usize, Vec<DataBlock>),
    /// A fragment block, and the files whose tail ends it holds. Those that also have data blocks
    /// were created.
    Fragment(u32, Vec<usize>),
}

/// Something at a position in the image.
enum Item {
    File(usize),
    Fragment(u32, Range<usize>),
}

/// The files and fragment blocks in the order of the image.
pub(super) struct Plan {
    /// Files with a tail end, by fragment block.
    pub(super) tails: Vec<usize>,
    items: Vec<(u64, Item)>,
}

impl Plan {
    /// Orders the files of a tree.
    ///
    /// Of files whose tail end lies in no fragment block, which `left_out` is told, nothing is
    /// ordered.
    pub(super) fn new(
        tree: &Tree,
        left_out: &mut dyn FnMut(usize, Error) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let (mut items, mut tails) = (Vec::new(), Vec::new());
        for (index, file) in tree.files.iter().enumerate() {
            if let Some(tail) = file.tail {
                if let Err(error) = tree.image.fragment_of(tail) {
                    let path = tree.destination.image_path(file.directory, &file.name);
                    left_out(index, Error::from(error).in_file(&path))?;
                    continue;
                }
                tails.push((tail.fragment, tail.offset, index));
            }
            if file.block_count > 0 || file.tail.is_none() {
                items.push((file.start, Item::File(index)));
            }
        }
        tails.sort_unstable();
        let mut begin = 0;
        for run in tails.chunk_by(|left, right| left.0 == right.0) {
            let range = begin..begin + run.len();
            begin = range.end;
            let Some((number, ..)) = run.first() else {
                continue;
            };
            let index = usize::try_from(*number).unwrap_or(usize::MAX);
            let Some(fragment) = tree.image.fragments().get(index) else {
                continue;
            };
            items.push((fragment.start, Item::Fragment(*number, range)));
        }
        items.sort_by_key(|(start, _)| *start);
        let tails = tails.into_iter().map(|(_, _, file)| file).collect();
        Ok(Self { tails, items })
    }
}

/// The jobs of a plan.
pub(super) struct Jobs<'a> {
    tree: &'a Tree<'a>,
    limits: Limits,
    parts: &'a Parts,
    tails: &'a [usize],
    items: Peekable<vec::IntoIter<(u64, Item)>>,
    batch: Vec<usize>,
    batch_bytes: u64,
    large: Option<Large>,
}

/// A file that is being cut into chunks.
struct Large {
    file: usize,
    /// With its block list.
    data: File,
    next_block: usize,
    start: u64,
}

impl<'a> Jobs<'a> {
    pub(super) fn new(
        tree: &'a Tree<'a>,
        plan: &'a mut Plan,
        limits: Limits,
        parts: &'a Parts,
    ) -> Self {
        Self {
            tree,
            limits,
            parts,
            items: std::mem::take(&mut plan.items).into_iter().peekable(),
            tails: &plan.tails,
            batch: Vec::new(),
            batch_bytes: 0,
            large: None,
        }
    }

    /// Creates a file that several jobs will write to, unless it was.
    fn begin(&self, index: usize) -> Result<(), Error> {
        let file = self.tree.files.get(index);
        let Some(file) = file.filter(|_| !self.parts.is_begun(index)) else {
            return Ok(());
        };
        let destination = &self.tree.destination;
        let created = destination.create_file(file.directory, &file.name, UNFINISHED);
        if let Err(error) = created.and_then(|created| {
            created.set_len(file.size_bytes).map_err(|error| {
                destination.discard_file(file.directory, &file.name);
                destination.error("set the length of", file.directory, &file.name, error)
            })
        }) {
            return self.parts.leave_out(self.tree, index, error);
        }
        let chunks = file.block_count.div_ceil(self.chunk_blocks() as u64);
        self.parts
            .begin(index, chunks + u64::from(file.tail.is_some()));
        Ok(())
    }

    fn chunk_blocks(&self) -> usize {
        let block_bytes = self.tree.image.superblock().block_size.bytes();
        usize::try_from(self.limits.chunk_bytes / u64::from(block_bytes)).unwrap_or(1)
    }

    fn begin_large(&mut self, index: usize) -> Result<(), Error> {
        self.begin(index)?;
        let file = self.tree.files.get(index);
        let Some(file) = file.filter(|_| !self.parts.is_left_out(index)) else {
            return Ok(());
        };
        let data = match self.tree.image.file(file.at) {
            Ok(data) => data.unwrap_or_default(),
            Err(error) => {
                let path = self.tree.destination.image_path(file.directory, &file.name);
                return self.parts.leave_out(self.tree, index, error.in_file(&path));
            }
        };
        self.large = Some(Large {
            file: index,
            start: data.start,
            data,
            next_block: 0,
        });
        Ok(())
    }

    fn next_chunk(&mut self) -> Option<Job> {
        let count = self.chunk_blocks();
        let large = self.large.as_mut()?;
        let block_size = self.tree.image.superblock().block_size;
        let blocks = data_blocks_from(&large.data, block_size, large.next_block, large.start);
        let blocks: Vec<_> = blocks.take(count).collect();
        let last = blocks.last()?;
        large.next_block += blocks.len();
        large.start = last.start.saturating_add(last.word.size_bytes().into());
        Some(Job::Chunk(large.file, blocks))
    }

    fn take_batch(&mut self) -> Job {
        self.batch_bytes = 0;
        Job::Files(std::mem::take(&mut self.batch))
    }

    /// The length of a file that one job writes whole.
    fn small_bytes(&self, index: usize) -> Option<u64> {
        let file = self.tree.files.get(index)?;
        let small = file.tail.is_none() && file.size_bytes <= self.limits.chunk_bytes;
        small.then_some(file.size_bytes)
    }

    fn begin_fragment(&mut self, number: u32, range: Range<usize>) -> Result<Job, Error> {
        let mut files = self.tails.get(range).unwrap_or_default().to_vec();
        for file in &files {
            let node = self.tree.files.get(*file);
            if node.is_some_and(|node| node.block_count > 0) {
                self.begin(*file)?;
            }
        }
        files.retain(|file| !self.parts.is_left_out(*file));
        Ok(Job::Fragment(number, files))
    }
}

impl Iterator for Jobs<'_> {
    type Item = Result<Job, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(chunk) = self.next_chunk() {
                return Some(Ok(chunk));
            }
            self.large = None;
            let next = match self.items.peek() {
                Some((_, Item::File(index))) => Some(*index),
                _ => None,
            };
            if let Some(index) = next
                && let Some(bytes) = self.small_bytes(index)
            {
                self.batch.push(index);
                self.batch_bytes += bytes;
                self.items.next();
                if self.batch_bytes >= BATCH_BYTES || self.batch.len() >= BATCH_FILES {
                    return Some(Ok(self.take_batch()));
                }
                continue;
            }
            if !self.batch.is_empty() {
                return Some(Ok(self.take_batch()));
            }
            match self.items.next()?.1 {
                Item::Fragment(number, range) => return Some(self.begin_fragment(number, range)),
                Item::File(index) => {
                    if let Err(error) = self.begin_large(index) {
                        return Some(Err(error));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_memory_means_smaller_chunks_then_fewer_threads() {
        let four = NonZeroUsize::new(4).unwrap();
        for (memory_bytes, block_bytes, threads, chunk_bytes) in [
            (1 << 30, 131_072, 4, 1 << 20),
            (1 << 20, 131_072, 4, 131_072),
            (1 << 21, 131_072, 4, 262_144),
            (600_000, 131_072, 2, 131_072),
            (0, 1 << 20, 1, 1 << 20),
        ] {
            let limits = Limits::new(four, memory_bytes, block_bytes);
            let found = (limits.threads.get(), limits.chunk_bytes);
            assert_eq!(found, (threads, chunk_bytes), "{memory_bytes}");
        }
    }
}
