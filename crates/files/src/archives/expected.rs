//! What a start would read of an archive before and after it is ordered, by the cost model.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use anyhow::{Context as _, anyhow};
use coldpress_archive::Placement;
use coldpress_codec::{Encoder, Settings, Workers, ordered};
use coldpress_cost::{
    AccessSequence, Extent, FileGeometry, Geometry, InodeGeometry, InodeGeometryKind, Lookup,
    Machine, Medium, MetadataRange, Prediction, Reader, predict,
};
use coldpress_format::{BlockSize, Compressor};
use coldpress_image::ReadAt;
use coldpress_report::text::quoted;
use coldpress_report::units::{bytes, count};
use coldpress_trace::{Access, Event, PAGE_SIZE_BYTES, Trace};
use serde::Serialize;

use super::Opened;

/// The archive, as the only file of its file system.
const ARCHIVE: &[u8] = b"/archive";
/// What mksquashfs and coldpress take.
const BLOCK_SIZE: BlockSize = BlockSize::DEFAULT;
/// Sizes of blocks are within a tenth of those at the default level, in a tenth of the time.
const ZSTD_LEVEL: i32 = 3;
/// Blocks that wait for each thread, so that none waits for the reader.
const WINDOW_OF_THREAD: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// A metadata block with one inode.
const INODE_BYTES: u32 = 64;

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
    /// zstd at level 3 over both archives, on all processors; a block in memory for each.
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

/// An image that holds nothing but this file.
fn geometry(file: &dyn ReadAt) -> anyhow::Result<Geometry> {
    let size_bytes = file.size_bytes()?;
    let blocks = blocks(file, size_bytes)?;
    let image_bytes = blocks.last().map_or(0, Extent::end);
    let inode = MetadataRange { first: 0, last: 0 };
    let name = Lookup {
        place: 0,
        search: None,
    };
    Ok(Geometry {
        compressor: Compressor::Zstd,
        block_size: BLOCK_SIZE,
        image_bytes,
        places: vec![InodeGeometry {
            inode,
            kind: InodeGeometryKind::File(FileGeometry {
                size_bytes,
                blocks,
                ..FileGeometry::default()
            }),
        }],
        names: HashMap::from([(ARCHIVE.to_vec(), name)]),
        fragments: Vec::new(),
        // Reads of metadata are left out: an image has other files, whose metadata lie beside.
        metadata: vec![Extent {
            start_byte: image_bytes,
            stored_bytes: INODE_BYTES,
            len_bytes: INODE_BYTES,
            is_stored: true,
        }],
        fragment_table: None,
        hash_tree: None,
        id_table: 0,
    })
}

/// Its data blocks, one after the other.
fn blocks(file: &dyn ReadAt, size_bytes: u64) -> anyhow::Result<Vec<Extent>> {
    let settings = Settings::new(Compressor::Zstd, Some(ZSTD_LEVEL))?;
    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let workers = Workers {
        threads,
        window: threads.saturating_mul(WINDOW_OF_THREAD),
    };
    let block_bytes = u64::from(BLOCK_SIZE.bytes());
    let jobs = (0..size_bytes.div_ceil(block_bytes)).map(|block| {
        let start = block * block_bytes;
        let len = block_bytes.min(size_bytes - start);
        let mut content = vec![0; usize::try_from(len)?];
        let read = file.fill_at(&mut content, start)?;
        if read < content.len() {
            return Err(anyhow!(
                "it ends at byte {}, not {size_bytes}",
                start + read as u64
            ));
        }
        Ok(content)
    });
    let mut blocks: Vec<Extent> = Vec::new();
    ordered(
        jobs,
        &workers,
        || Ok((Encoder::new(&settings, BLOCK_SIZE)?, Vec::new())),
        |(encoder, output), content| {
            let shrank = encoder.compress(&content, output)?;
            let stored = if shrank { output.len() } else { content.len() };
            Ok((shrank, stored, content.len()))
        },
        |(shrank, stored, len)| {
            blocks.push(Extent {
                start_byte: blocks.last().map_or(0, Extent::end),
                stored_bytes: u32::try_from(stored)?,
                len_bytes: u32::try_from(len)?,
                is_stored: !shrank,
            });
            Ok(())
        },
    )?;
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use coldpress_archive::Piece;

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

    /// Bytes that no compressor makes shorter.
    fn fill(content: &mut Vec<u8>, len: u64) {
        let mut state = 1_u64;
        while (content.len() as u64) < len {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            content.push(state.to_le_bytes()[5]);
        }
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

    #[test]
    fn blocks_lie_one_after_the_other() {
        let mut content = vec![0; 200_000];
        fill(&mut content, 300_000);
        let blocks = blocks(&content.as_slice(), 300_000).expect("they are in memory");
        let lens: Vec<u32> = blocks.iter().map(|block| block.len_bytes).collect();
        assert_eq!(lens, [131_072, 131_072, 37_856]);
        assert_eq!(blocks[1].start_byte, blocks[0].end());
        assert!(blocks[0].stored_bytes < 100 && blocks[2].is_stored);
    }
}
