//! The data area: that every block decompresses to its length, that blocks are the same or apart,
//! and that every byte belongs to a file.

use std::ops::ControlFlow;

use coldpress_format::{Corrupt, PADDING_SIZE, Part, Rule};

use super::superblock::is_zero;
use crate::error::Error;
use crate::extents::{Extent, Kind, Shared, read_all};
use crate::findings::{Findings, Severity};
use crate::image::Image;
use crate::region::Region;
use crate::survey::{Survey, Tail};

/// Reads every block of the data area.
///
/// # Errors
///
/// [`Error::Interrupted`] only.
pub(super) fn check(
    image: &Image,
    survey: &Survey,
    findings: &mut Findings,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(), Error> {
    let mut area = Area {
        image,
        survey,
        findings,
        has_all_inodes: survey.has_all_inodes(),
        end: image.data_start(),
    };
    let mut checked_bytes = 0;
    read_all(image, &survey.extents, &mut |block, length| {
        let Some(extent) = block.first() else {
            return Ok(());
        };
        area.place(extent);
        area.length(extent, block, length);
        checked_bytes += extent.size_bytes();
        match progress(checked_bytes) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    })?;
    area.gap(image.data_area().end);
    Ok(())
}

struct Area<'a> {
    image: &'a Image,
    survey: &'a Survey,
    findings: &'a mut Findings,
    has_all_inodes: bool,
    /// The image byte behind the blocks so far.
    end: u64,
}

impl Area<'_> {
    fn notice(&mut self, extent: &Extent, rule: Rule) {
        let corrupt = Corrupt::new(extent.part(), extent.start, rule);
        let path = || self.survey.path(extent.node()?);
        self.findings.add(Severity::Notice, path, corrupt);
    }

    /// Notices bytes before a block that belong to none, or to another one too.
    fn place(&mut self, extent: &Extent) {
        if extent.start < self.end {
            let rule = Rule::OutOfRange {
                field: "start of a block (another block is there)",
                found: extent.start,
                low: self.end,
                high: u64::MAX,
            };
            self.notice(extent, rule);
        }
        self.gap(extent.start.min(self.image.data_area().end));
        self.end = self.end.max(extent.end());
    }

    fn gap(&mut self, start: u64) {
        let gap = Region {
            start: self.end,
            end: start,
        };
        if !self.has_all_inodes || start <= self.end || is_alignment(self.image, gap) {
            return;
        }
        let rule = Rule::Unreferenced {
            offset: gap.start,
            len_bytes: gap.end - gap.start,
        };
        self.findings.notice((Part::DataArea, gap.start), rule);
    }

    /// Checks what a block decompressed to.
    fn length(&mut self, extent: &Extent, block: Shared<'_>, length: Result<u64, Error>) {
        let len_bytes = match length {
            Ok(len_bytes) => len_bytes,
            Err(error) => {
                let path = || self.survey.path(extent.node()?);
                return self.findings.add(Severity::Error, path, error);
            }
        };
        if extent.is_compressed() && extent.size_bytes() >= len_bytes {
            let rule = Rule::Unusual {
                field: "size of a compressed block, which is no smaller than its content,",
                found: extent.size_bytes(),
                usual: len_bytes.saturating_sub(1),
            };
            self.notice(extent, rule);
        }
        for shared in block {
            if let Kind::Fragment(index) = shared.kind {
                self.tails(extent, index, len_bytes);
            }
        }
    }

    /// Checks that the tail ends of a fragment block lie in it, and that it holds nothing else.
    fn tails(&mut self, extent: &Extent, index: u32, len_bytes: u64) {
        let tails = self.survey.tails_of(index);
        if !self.has_all_inodes && tails.is_empty() {
            return;
        }
        if tails.is_empty() {
            let rule = Rule::Unusual {
                field: "number of files with a tail end in the fragment block",
                found: 0,
                usual: 1,
            };
            return self.notice(extent, rule);
        }
        let mut end = 0;
        let mut before: Option<&Tail> = None;
        for tail in tails {
            let offset = u64::from(tail.offset);
            let tail_end = offset + u64::from(tail.len_bytes);
            let path = || self.survey.path(usize::try_from(tail.node).ok()?);
            if tail_end > len_bytes {
                let (needed, found) = (tail_end, len_bytes);
                let rule = Rule::Truncated { needed, found };
                let corrupt = Corrupt::new(Part::FragmentBlock, extent.start, rule);
                self.findings.add(Severity::Error, path, corrupt);
            }
            let same =
                |other: &Tail| (other.offset, other.len_bytes) == (tail.offset, tail.len_bytes);
            if offset < end && !before.is_some_and(same) {
                let rule = Rule::Unusual {
                    field: "bytes of the tail end that belong to another one too",
                    found: end.min(tail_end) - offset,
                    usual: 0,
                };
                let corrupt = Corrupt::new(Part::FragmentBlock, extent.start, rule);
                self.findings.add(Severity::Notice, path, corrupt);
            }
            self.unused_tail(extent, end, offset.min(len_bytes));
            end = end.max(tail_end);
            before = Some(tail);
        }
        self.unused_tail(extent, end, len_bytes);
    }

    fn unused_tail(&mut self, extent: &Extent, from: u64, to: u64) {
        if from < to && self.has_all_inodes {
            let (offset, len_bytes) = (from, to - from);
            self.notice(extent, Rule::Unreferenced { offset, len_bytes });
        }
    }
}

/// Whether a gap is zeros that bring what follows to a multiple of 4096 bytes.
fn is_alignment(image: &Image, gap: Region) -> bool {
    let is_short = gap.end - gap.start < PADDING_SIZE && gap.end.is_multiple_of(PADDING_SIZE);
    is_short && is_zero(image, gap)
}
