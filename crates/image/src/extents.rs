//! The blocks of the data area, each decompressed once.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use coldpress_codec::{Workers, ordered};
use coldpress_format::{BlockWord, Corrupt, Fragment, Part, Rule};

use crate::error::Error;
use crate::file::DataBlock;
use crate::image::Image;

/// Blocks are handed to a thread in groups of about this many bytes on disk: an image of small
/// blocks would otherwise spend its time between the threads.
const GROUP_BYTES: u64 = 1 << 20;
/// Bytes that blocks inside other blocks may decompress to. No writer makes them, and a small image
/// could ask for endless work with them.
const OVERLAPPING_MAX_BYTES: u64 = 256 << 20;

/// A block in the data area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Extent {
    /// Image byte at which it starts.
    pub(crate) start: u64,
    /// Its size on disk, as its word.
    pub(crate) word: u32,
    /// What it is.
    pub(crate) kind: Kind,
}

/// What a block of the data area is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A data block.
    Data {
        /// Its length before compression.
        len_bytes: u32,
        /// The node of the file.
        node: u32,
        /// Its index in the file's block list.
        index: u32,
    },
    /// The fragment block with this index.
    Fragment(u32),
}

impl Extent {
    /// The image byte behind it.
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.size_bytes())
    }

    /// Bytes on disk.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.block_word().size_bytes().into()
    }

    /// Whether its bytes must be decompressed.
    pub(crate) fn is_compressed(&self) -> bool {
        self.block_word().is_compressed()
    }

    /// The node of the file; a fragment block has none.
    pub(crate) fn node(&self) -> Option<usize> {
        match self.kind {
            Kind::Data { node, .. } => usize::try_from(node).ok(),
            Kind::Fragment(_) => None,
        }
    }

    /// What it is, for errors.
    pub(crate) fn part(&self) -> Part {
        match self.kind {
            Kind::Data { .. } => Part::DataBlock,
            Kind::Fragment(_) => Part::FragmentBlock,
        }
    }

    /// What must be the same for two files to share a block.
    fn shared(&self) -> (u64, u32, Option<u32>) {
        let len = match self.kind {
            Kind::Data { len_bytes, .. } => Some(len_bytes),
            Kind::Fragment(_) => None,
        };
        (self.start, self.word, len)
    }

    fn block_word(&self) -> BlockWord {
        // Words become extents after they were parsed, with the largest block size at most.
        let compressed = self.word >> 24 == 0;
        match self.word & ((1 << 24) - 1) {
            0 => BlockWord::SPARSE,
            size => BlockWord::new(size, compressed),
        }
    }

    /// Reads and decompresses it; returns its length.
    fn read(&self, image: &Image, (input, output): &mut Buffers) -> Result<u64, Error> {
        match self.kind {
            Kind::Data { len_bytes, .. } => {
                let block = DataBlock {
                    offset: 0,
                    start: self.start,
                    word: self.block_word(),
                    len: len_bytes,
                };
                output.resize(usize::try_from(len_bytes).unwrap_or(0), 0);
                image.read_data_block(&block, input, output)?;
                Ok(len_bytes.into())
            }
            Kind::Fragment(_) => {
                let fragment = Fragment {
                    start: self.start,
                    size: self.block_word(),
                };
                image.read_fragment(&fragment, input, output)?;
                Ok(output.len() as u64)
            }
        }
    }
}

/// Compressed and decompressed bytes of a thread's block.
type Buffers = (Vec<u8>, Vec<u8>);

/// A block and those who share it.
pub(crate) type Shared<'a> = &'a [Extent];

/// Takes a block and the length that it decompressed to.
type Visit<'a> = &'a mut dyn FnMut(Shared<'_>, Result<u64, Error>) -> Result<(), Error>;

/// Sorts by position; of the files that share a block the first in walking order comes first.
pub(crate) fn sort(extents: &mut [Extent]) {
    extents.sort_unstable_by_key(|extent| (extent.shared(), extent.kind));
}

/// Reads each block once, on all processors, and hands its length to `visit` in order of position.
///
/// * `extents`: sorted.
///
/// # Errors
///
/// Those of `visit`; what is wrong with a block is handed to it.
pub(crate) fn read_all(image: &Image, extents: &[Extent], visit: Visit<'_>) -> Result<(), Error> {
    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let workers = Workers {
        threads,
        window: threads.saturating_mul(NonZeroUsize::MIN.saturating_add(3)),
    };
    let mut allowance = Allowance::default();
    let jobs = groups(extents).map(|group| {
        let blocks = group.chunk_by(|a, b| a.shared() == b.shared());
        let allowed: Vec<_> = blocks
            .map(|block| (block, allowance.spend(image, block)))
            .collect();
        Ok(allowed)
    });
    ordered(
        jobs,
        &workers,
        || Ok(Buffers::default()),
        |buffers, blocks: Vec<(Shared<'_>, Result<(), Corrupt>)>| {
            let read = |(block, allowed): (Shared<'_>, Result<(), Corrupt>)| {
                let first = block.first()?;
                let length = allowed
                    .map_err(Error::from)
                    .and_then(|()| first.read(image, buffers));
                Some((block.len(), length))
            };
            Ok(blocks.into_iter().filter_map(read).collect::<Vec<_>>())
        },
        {
            let mut rest = extents;
            move |lengths| {
                for (count, length) in lengths {
                    let (block, after) = rest.split_at_checked(count).unwrap_or_default();
                    rest = after;
                    visit(block, length)?;
                }
                Ok(())
            }
        },
    )
}

/// What keeps the reading of blocks inside other blocks in bounds.
#[derive(Default)]
struct Allowance {
    end: u64,
    overlapping_bytes: u64,
}

impl Allowance {
    fn spend(&mut self, image: &Image, block: Shared<'_>) -> Result<(), Corrupt> {
        let Some(extent) = block.first() else {
            return Ok(());
        };
        let overlaps = extent.start < self.end;
        self.end = self.end.max(extent.end());
        if !overlaps {
            return Ok(());
        }
        let block_bytes = image.superblock().block_size.bytes();
        self.overlapping_bytes += u64::from(block_bytes);
        if self.overlapping_bytes <= OVERLAPPING_MAX_BYTES {
            return Ok(());
        }
        let rule = Rule::OutOfRange {
            field: "bytes of blocks inside other blocks (this one is not read)",
            found: self.overlapping_bytes,
            low: 0,
            high: OVERLAPPING_MAX_BYTES,
        };
        Err(Corrupt::new(extent.part(), extent.start, rule))
    }
}

/// Neighbors in groups of about [`GROUP_BYTES`]; those who share a block stay together.
fn groups(extents: &[Extent]) -> impl Iterator<Item = &[Extent]> {
    let mut rest = extents;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let limit = first.start.saturating_add(GROUP_BYTES);
        let inside = rest.partition_point(|extent| extent.start < limit);
        let mut count = inside.max(1);
        while let (Some(last), Some(next)) = (rest.get(count - 1), rest.get(count))
            && last.shared() == next.shared()
        {
            count += 1;
        }
        let (group, after) = rest.split_at_checked(count)?;
        rest = after;
        Some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(start: u64, size: u32, node: u32) -> Extent {
        Extent {
            start,
            word: BlockWord::new(size, true).word(),
            kind: Kind::Data {
                len_bytes: size,
                node,
                index: 0,
            },
        }
    }

    #[test]
    fn groups_hold_every_extent_once_and_sharers_together() {
        let mut extents: Vec<_> = (0..100)
            .flat_map(|index| {
                [
                    extent(index * 65_536, 65_536, 1),
                    extent(index * 65_536, 65_536, 0),
                ]
            })
            .collect();
        sort(&mut extents);
        assert_eq!(extents[0].node(), Some(0));
        let groups: Vec<_> = groups(&extents).collect();
        assert_eq!(groups.concat(), extents);
        assert_eq!(groups[0].len(), 32);
        assert!(groups.iter().all(|group| group.len() % 2 == 0));
    }
}
