//! What a start would read of an archive before and after it is ordered, by the cost model.

use std::collections::HashSet;

use anyhow::Context as _;
use coldpress_archive::Placement;
use coldpress_cost::{AccessSequence, Geometry, Machine, Medium, Prediction, Reader, predict};
use coldpress_image::ReadAt;
use coldpress_report::text::quoted;
use coldpress_report::units::{bytes, count};
use coldpress_trace::{Access, Event, PAGE_SIZE_BYTES, Trace};
use serde::Serialize;

use super::Opened;
use super::alone::{ARCHIVE, geometry};

/// Reads of a device that are for the data of an archive, with a readahead of 128 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Expected {
    /// Before, on a file system that compresses nothing.
    plain_before: Reads,
    /// After, there.
    plain_after: Reads,
    /// Before, in an image of zstd with blocks of 128 KiB, through the kernel.
    image_before: Reads,
    /// After, there.
    image_after: Reads,
}

/// How much is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Reads {
    /// Requests.
    reads: u64,
    /// Their bytes.
    read_bytes: u64,
}

impl Expected {
    /// Compresses both archives, and replays a start against each.
    ///
    /// * `new`: the ordered archive.
    /// * `start`: what the start asks of the old one, from [`asked_by_pages`] or [`asked_by_log`].
    ///
    /// # Errors
    ///
    /// If an archive cannot be read.
    ///
    /// # Cost
    ///
    /// zstd at level 9 over both archives, on all processors; a few blocks in memory for each.
    pub(super) fn of(
        opened: &Opened,
        new: &dyn ReadAt,
        placement: &Placement,
        start: &Trace,
    ) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read {}", quoted(&opened.path));
        let old = geometry(&opened.file).with_context(cannot)?;
        let new = geometry(new).context("cannot read the new archive")?;
        let before = AccessSequence::of_trace(start, 0.0);
        let after = AccessSequence::of_trace(&placement.carry(start, ARCHIVE), 0.0);
        Ok(Self {
            plain_before: Reads::of(&old, &before, Reader::Unpacked),
            plain_after: Reads::of(&new, &after, Reader::Unpacked),
            image_before: Reads::of(&old, &before, Reader::KERNEL),
            image_after: Reads::of(&new, &after, Reader::KERNEL),
        })
    }

    /// `predicted reads of it: 172 (12.1 MiB), then 65 (8.2 MiB) on a plain disk; 196 (7.4 MiB),
    /// then 84 (3.1 MiB) in an image`
    pub(super) fn sentence(&self) -> String {
        let pair = |before: Reads, after: Reads| format!("{before}, then {after}");
        format!(
            "predicted reads of it: {} on a plain disk; {} in an image",
            pair(self.plain_before, self.plain_after),
            pair(self.image_before, self.image_after),
        )
    }
}

impl Reads {
    fn of(geometry: &Geometry, start: &AccessSequence, reader: Reader) -> Self {
        let machine = Machine::default();
        let Prediction {
            reads,
            read_bytes,
            metadata_reads,
            metadata_bytes,
            ..
        } = predict(geometry, start, &Medium::FREE, &machine, &reader);
        Self {
            reads: reads.saturating_sub(metadata_reads),
            read_bytes: read_bytes.saturating_sub(metadata_bytes),
        }
    }
}

impl std::fmt::Display for Reads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", count(self.reads), bytes(self.read_bytes))
    }
}

/// What a recorded start asks of an archive.
///
/// * `path`: of the archive in the trace.
pub(super) fn asked_by_pages(trace: &Trace, path: &[u8]) -> Trace {
    let events = trace.events.iter();
    let own = events.filter(|event| event.path == path && event.access.pages().is_some());
    Trace {
        header: trace.header.clone(),
        events: own
            .map(|event| Event {
                path: ARCHIVE.to_vec(),
                ..event.clone()
            })
            .collect(),
    }
}

/// What a start asks of an archive of which a log names the entries: the index, then each entry.
///
/// * `hot`: places of the entries among the parts, in the order of the start.
pub(super) fn asked_by_log(opened: &Opened, placement: &Placement, hot: &[usize]) -> Trace {
    let parts = opened.archive.parts();
    let entries = hot.iter().filter_map(|&place| parts.get(place));
    let entries: Vec<_> = entries.map(|part| part.range.clone()).collect();
    let known: HashSet<u64> = entries.iter().map(|range| range.start).collect();
    let others = placement.pieces().iter();
    let others = others.filter(|piece| piece.is_hot && !known.contains(&piece.old.start));
    let all = others.map(|piece| piece.old.clone()).chain(entries);
    let events = all
        .filter(|range| range.start < range.end)
        .map(|range| Event {
            time_us: 0,
            pid: 0,
            access: Access::Read {
                first_page: range.start / PAGE_SIZE_BYTES,
                last_page: (range.end - 1) / PAGE_SIZE_BYTES,
            },
            path: ARCHIVE.to_vec(),
        });
    Trace {
        events: events.collect(),
        ..Trace::default()
    }
}

#[cfg(test)]
mod tests {
    use coldpress_archive::Piece;

    use super::super::alone::tests::fill;
    use super::*;

    const BLOCK_BYTES: u64 = 128 << 10;

    /// Blocks that do not compress, of which a start reads a page of every fifth.
    fn scattered() -> (Vec<u8>, Trace, Placement) {
        let mut content = Vec::new();
        fill(&mut content, 40 * BLOCK_BYTES);
        let hot = (0..8).map(|number| number * 5 * BLOCK_BYTES);
        let events = hot.clone().map(|start| Event {
            time_us: 0,
            pid: 1,
            access: Access::Read {
                first_page: start / PAGE_SIZE_BYTES,
                last_page: start / PAGE_SIZE_BYTES,
            },
            path: b"/a.jar".to_vec(),
        });
        let trace = Trace {
            events: events.collect(),
            ..Trace::default()
        };
        let pieces = hot.enumerate().map(|(number, start)| Piece {
            old: start..start + PAGE_SIZE_BYTES,
            new: number as u64 * PAGE_SIZE_BYTES..(number as u64 + 1) * PAGE_SIZE_BYTES,
            is_hot: true,
        });
        (content, trace, Placement::new(pieces.collect()))
    }

    #[test]
    fn what_lies_together_is_read_at_once() {
        let (content, trace, placement) = scattered();
        let geometry = geometry(&content.as_slice()).expect("it is in memory");
        let before = asked_by_pages(&trace, b"/a.jar");
        let after = placement.carry(&before, ARCHIVE);
        let of = |start: &Trace, reader| {
            Reads::of(&geometry, &AccessSequence::of_trace(start, 0.0), reader).reads
        };
        assert_eq!(of(&before, Reader::Unpacked), 8);
        // The window of readahead grows from 4 pages.
        assert_eq!(of(&after, Reader::Unpacked), 3);
        assert_eq!(of(&before, Reader::KERNEL), 8);
        assert_eq!(of(&after, Reader::KERNEL), 4);
        assert_eq!(asked_by_pages(&trace, b"/b.jar").events, []);
    }
}
