//! The bytes of an image that a start needs, and the order in which they are read.

use std::collections::HashSet;
use std::ops::Range;

use coldpress_format::{Body, File};
use coldpress_image::{Image, StoredBlock};
use coldpress_trace::{FileAccess, PAGE_SIZE_BYTES, WorkingSet};

/// What is sorted by place before it is read: a start comes to it within a moment, and a disk need
/// not seek back.
const WINDOW_BYTES: u64 = 16 << 20;
/// A gap that is read along: going round it is another request.
const GAP_MAX_BYTES: u64 = 64 << 10;
/// The largest read, after which is asked whether to go on.
const READ_MAX_BYTES: u64 = 1 << 20;

/// Bytes of an image, in the order of their first access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needed {
    pub(super) extents: Vec<Range<u64>>,
    /// Files that the image does not have.
    pub(super) missing: u64,
}

/// The blocks that a working set touches; surely, or of a file of which nothing is sure, perhaps.
///
/// Metadata is not among them: finding the files has read it.
///
/// # Cost
///
/// A lookup for each file, and all of their block lists one after the other.
pub(super) fn needed(image: &Image, set: &WorkingSet) -> Needed {
    let mut ranked = Vec::new();
    let mut missing = 0;
    for access in &set.files {
        match image.find(&access.path) {
            Ok(Some((_, inode))) => {
                if let Body::File(file) = &inode.body {
                    blocks(image, file, access, &mut ranked);
                }
            }
            // What is damaged is told by whoever needs it.
            Ok(None) | Err(_) => missing += 1,
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut seen = HashSet::new();
    let extents = ranked.into_iter().map(|(_, extent)| extent);
    let extents = extents.filter(|extent| seen.insert(extent.start)).collect();
    Needed { extents, missing }
}

/// Adds the blocks of a file that were touched, with the rank of the first touch.
fn blocks(image: &Image, file: &File, access: &FileAccess, ranked: &mut Vec<(u64, Range<u64>)>) {
    let block_bytes = u64::from(image.superblock().block_size.bytes());
    let is_sure = access.pages.iter().any(|run| run.certain);
    let rank = |begin: u64, end: u64| {
        let pages = begin / PAGE_SIZE_BYTES..=end.saturating_sub(1) / PAGE_SIZE_BYTES;
        if is_sure {
            access.touches_certainly(pages)
        } else {
            access.touches(pages)
        }
    };
    let mut add = |begin: u64, end: u64, block: &StoredBlock| {
        let Some(rank) = rank(begin, end) else { return };
        // A hostile image may state any place; nothing is read outside of the data.
        let size_bytes = u64::from(block.word.size_bytes());
        let stored_end = block.start.saturating_add(size_bytes);
        if size_bytes > 0 && stored_end <= image.superblock().inode_table_start {
            ranked.push((rank, block.start..stored_end));
        }
    };
    let mut begin = 0_u64;
    for block in image.stored_blocks(file) {
        let end = begin.saturating_add(block_bytes);
        add(begin, end.min(file.size_bytes), &block);
        begin = end;
    }
    if let Some(fragment) = file.tail.and_then(|tail| image.stored_fragment(tail)) {
        add(begin, file.size_bytes, &fragment);
    }
}

/// The reads that bring these extents: within a window in the order of the image, those close to
/// each other in one.
pub(super) fn reads(extents: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut reads = Vec::new();
    let mut rest = extents;
    while !rest.is_empty() {
        let (window, after) = rest.split_at(window_len(rest));
        rest = after;
        let mut sorted = window.to_vec();
        sorted.sort_unstable_by_key(|extent| extent.start);
        let mut joined: Vec<Range<u64>> = Vec::new();
        for extent in sorted {
            match joined.last_mut() {
                Some(last) if extent.start <= last.end.saturating_add(GAP_MAX_BYTES) => {
                    last.end = last.end.max(extent.end);
                }
                _ => joined.push(extent),
            }
        }
        reads.extend(joined.into_iter().flat_map(pieces));
    }
    reads
}

/// How many of the extents are sorted together; one at least.
fn window_len(extents: &[Range<u64>]) -> usize {
    let mut bytes = 0;
    let fits = extents.iter().take_while(|extent| {
        let fits = bytes < WINDOW_BYTES;
        bytes += extent.end - extent.start;
        fits
    });
    fits.count().max(1)
}

fn pieces(extent: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let mut start = extent.start;
    std::iter::from_fn(move || {
        let end = extent.end.min(start.saturating_add(READ_MAX_BYTES));
        let piece = start..end;
        start = end;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_close_is_one_read_and_large_reads_are_several() {
        const KIB: u64 = 1 << 10;
        const MIB: u64 = 1 << 20;
        for (extents, expected) in [
            (&[][..], vec![]),
            (&[(5 * KIB, 6 * KIB)], vec![(5 * KIB, 6 * KIB)]),
            (
                &[(100 * KIB, 101 * KIB), (0, KIB)],
                vec![(0, KIB), (100 * KIB, 101 * KIB)],
            ),
            (
                &[(60 * KIB, 61 * KIB), (0, KIB), (KIB, 2 * KIB)],
                vec![(0, 61 * KIB)],
            ),
            (&[(0, MIB + 5)], vec![(0, MIB), (MIB, MIB + 5)]),
            // The second window is read behind the first, wherever it lies.
            (
                &[(32 * MIB, 33 * MIB), (40 * MIB, 56 * MIB), (0, KIB)],
                [(32 * MIB, 33 * MIB)]
                    .into_iter()
                    .chain((40..56).map(|it| (it * MIB, (it + 1) * MIB)))
                    .chain([(0, KIB)])
                    .collect(),
            ),
        ] {
            let extents: Vec<_> = extents.iter().map(|&(start, end)| start..end).collect();
            let found = reads(&extents).into_iter().map(|it| (it.start, it.end));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{extents:?}");
        }
    }

    #[test]
    fn a_large_extent_alone_is_a_window() {
        let whole = 0..64 << 20;
        assert_eq!(reads(&[whole]).len(), 64);
    }
}
