//! Decompressing every data and fragment block once.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread::available_parallelism;

use coldpress_codec::{Workers, ordered};
use coldpress_format::{BlockWord, Corrupt, Fragment, Part, Rule};

use super::survey::Survey;
use super::{Findings, within};
use crate::error::Error;
use crate::file::DataBlock;
use crate::image::Image;

/// Blocks are handed to a thread in groups of about this many bytes on disk: an image of small
/// blocks would otherwise spend its time between the threads.
const GROUP_BYTES: u64 = 1 << 20;

/// A block in the data area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Image byte at which it starts.
    pub(super) start: u64,
    /// Its size on disk.
    pub(super) word: BlockWord,
    /// Its length.
    pub(super) length: Length,
    /// The node of the file; a fragment block has none.
    pub(super) owner: Option<usize>,
}

/// What is known of a block's length before it is decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Length {
    /// A data block.
    Exactly(u32),
    /// A fragment block, whose tail ends reach up to here.
    AtLeast(u64),
}

impl Extent {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.word.size_bytes().into())
    }

    fn part(&self) -> Part {
        match self.length {
            Length::Exactly(_) => Part::DataBlock,
            Length::AtLeast(_) => Part::FragmentBlock,
        }
    }

    fn read(&self, image: &Image, (input, output): &mut Buffers) -> Result<(), Error> {
        match self.length {
            Length::Exactly(len) => {
                let block = DataBlock {
                    offset: 0,
                    start: self.start,
                    word: self.word,
                    len,
                };
                output.resize(usize::try_from(len).unwrap_or(0), 0);
                image.read_data_block(&block, input, output)
            }
            Length::AtLeast(needed) => {
                let fragment = Fragment {
                    start: self.start,
                    size: self.word,
                };
                image.read_fragment(&fragment, input, output)?;
                let at = (self.part(), self.start);
                let field = "decompressed length";
                Ok(within(at, field, output.len() as u64, (needed, u64::MAX))?)
            }
        }
    }
}

/// Compressed and decompressed bytes of a thread's block.
type Buffers = (Vec<u8>, Vec<u8>);

/// Checks that every block decompresses to its length, and that blocks are the same or apart.
pub(super) fn check_blocks(
    image: &Image,
    survey: Survey,
    findings: &mut Findings,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(), Error> {
    let mut survey = survey;
    let mut extents = std::mem::take(&mut survey.extents);
    let fragments = image.fragments().iter().zip(&survey.fragment_bytes);
    extents.extend(fragments.map(|(fragment, needed)| Extent {
        start: fragment.start,
        word: fragment.size,
        length: Length::AtLeast(*needed),
        owner: None,
    }));
    // By position; of the files that share a block the first in walking order comes first.
    extents.sort_unstable_by_key(|extent| {
        (
            extent.start,
            extent.word.word(),
            extent.length,
            extent.owner,
        )
    });
    extents.dedup_by_key(|extent| (extent.start, extent.word.word(), extent.length));

    let path = |owner: Option<usize>| survey.path(survey.nodes.get(owner?)?);
    refuse_overlaps(&mut extents, &mut |owner, corrupt| {
        findings.add(|| path(owner), corrupt.into());
    });

    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let workers = Workers {
        threads,
        window: threads.saturating_mul(NonZeroUsize::MIN.saturating_add(3)),
    };
    let mut checked_bytes = 0;
    ordered(
        groups(&extents).map(Ok),
        &workers,
        || Ok(Buffers::default()),
        |buffers, group: &[Extent]| {
            let read = |extent: &Extent| Some((extent.owner, extent.read(image, buffers).err()?));
            let errors: Vec<_> = group.iter().filter_map(read).collect();
            let bytes: u64 = group.iter().map(|extent| extent.end() - extent.start).sum();
            Ok((errors, bytes))
        },
        |(errors, bytes)| {
            for (owner, error) in errors {
                findings.add(|| path(owner), error);
            }
            checked_bytes += bytes;
            match progress(checked_bytes) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(Error::Interrupted),
            }
        },
    )
}

/// Takes out extents that begin inside another.
///
/// No writer makes them, and decompressing each would let a small image ask for endless work.
fn refuse_overlaps(extents: &mut Vec<Extent>, report: &mut dyn FnMut(Option<usize>, Corrupt)) {
    let mut end = 0;
    extents.retain(|extent| {
        if extent.start >= end {
            end = extent.end();
            return true;
        }
        let rule = Rule::OutOfRange {
            field: "start of a block (another block is there)",
            found: extent.start,
            low: end,
            high: u64::MAX,
        };
        report(
            extent.owner,
            Corrupt::new(extent.part(), extent.start, rule),
        );
        false
    });
}

/// Neighbors in groups of about [`GROUP_BYTES`].
fn groups(extents: &[Extent]) -> impl Iterator<Item = &[Extent]> {
    let mut rest = extents;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let limit = first.start.saturating_add(GROUP_BYTES);
        let count = rest.partition_point(|extent| extent.end() <= limit).max(1);
        let (group, after) = rest.split_at_checked(count)?;
        rest = after;
        Some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(start: u64, size: u32) -> Extent {
        Extent {
            start,
            word: BlockWord::new(size, true),
            length: Length::Exactly(size),
            owner: None,
        }
    }

    #[test]
    fn extents_that_begin_inside_another_are_refused() {
        let mut extents = vec![
            extent(100, 50),
            extent(120, 1000),
            extent(150, 10),
            extent(155, 1),
        ];
        let mut reported = Vec::new();
        refuse_overlaps(&mut extents, &mut |_, corrupt| reported.push(corrupt.start));
        assert_eq!(extents, [extent(100, 50), extent(150, 10)]);
        assert_eq!(reported, [120, 155]);
    }

    #[test]
    fn groups_hold_every_extent_once() {
        let extents: Vec<_> = (0..100)
            .map(|index| extent(index * 65_536, 65_536))
            .collect();
        let groups: Vec<_> = groups(&extents).collect();
        assert_eq!(groups.concat(), extents);
        assert_eq!(groups[0].len(), 16);
    }
}
