//! The way of a disk's head through the files that a start touches.
//!
//! A model: the first access of each page is a read, in the order of the trace, without read-ahead
//! and without other programs. What it counts is the same each time, and tells how much of the way
//! is owed to fragmentation.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use coldpress_trace::{FileAccess, PAGE_SIZE_BYTES, PageRun, WorkingSet};

use super::{Extent, Place, for_each_extent};
use crate::Error;

/// Where a file that was touched lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Laid {
    /// The device of its file system, as `stat(2)` tells it.
    pub device: u64,
    /// All its extents, in the order of their offsets.
    pub extents: Vec<Extent>,
}

impl Laid {
    /// Looks at a file.
    ///
    /// # Errors
    ///
    /// As of [`for_each_extent`].
    ///
    /// # Cost
    ///
    /// 40 bytes for each extent.
    pub fn of(file: &File, path: &Path) -> Result<Self, Error> {
        let metadata = file.metadata().map_err(Error::io("look at", path))?;
        let mut extents = Vec::new();
        for_each_extent(file, path, &mut |extent| extents.push(extent))?;
        Ok(Self {
            device: metadata.dev(),
            extents,
        })
    }

    /// The first byte of the device that the file has; `None` if it has none.
    pub fn first_byte(&self) -> Option<u64> {
        let places = self.extents.iter().filter_map(|extent| match extent.place {
            Place::Disk(start) => Some(start),
            Place::Inline | Place::Unknown => None,
        });
        places.min()
    }
}

/// What the way costs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seeks {
    /// How often the next byte to read is not behind the last one that was read of the same device.
    pub count: u64,
    /// How many there would be if each file were one extent.
    pub count_unfragmented: u64,
    /// Bytes from the end of each read to the beginning of the next one, forth or back.
    pub distance_bytes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// The same for each file of the working set.
    pub files: Vec<FileSeeks>,
}

/// The reads of one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileSeeks {
    /// Seeks to a byte of it.
    pub count: u64,
    /// Bytes read of it.
    pub read_bytes: u64,
}

/// Follows the first accesses of a working set over the disk.
///
/// * `laid`: for each file of the working set where it lies; `None` for one that is not there.
///
/// # Cost
///
/// Sorts the page runs; a binary search in the extents for each.
pub fn seeks(set: &WorkingSet, laid: &[Option<Laid>]) -> Seeks {
    let mut seeks = Seeks {
        files: vec![FileSeeks::default(); set.files.len()],
        ..Seeks::default()
    };
    let mut heads: HashMap<u64, Head> = HashMap::new();
    for (index, run) in in_order(&set.files) {
        let (Some(Some(laid)), Some(file)) = (laid.get(index), seeks.files.get_mut(index)) else {
            continue;
        };
        let first = run.first_page.saturating_mul(PAGE_SIZE_BYTES);
        let end = run
            .last_page
            .saturating_add(1)
            .saturating_mul(PAGE_SIZE_BYTES);
        let mut is_behind = false;
        for piece in pieces(&laid.extents, first, end) {
            let head = heads.get(&laid.device);
            if let Some(head) = head.filter(|head| head.end != piece.start) {
                file.count += 1;
                seeks.count += 1;
                let way_bytes = head.end.abs_diff(piece.start);
                seeks.distance_bytes = seeks.distance_bytes.saturating_add(way_bytes);
            }
            let goes_on = |head: &Head| is_behind || head.file_end == (index, piece.offset);
            seeks.count_unfragmented += u64::from(head.is_some_and(|head| !goes_on(head)));
            is_behind = true;
            file.read_bytes = file.read_bytes.saturating_add(piece.len_bytes);
            seeks.read_bytes = seeks.read_bytes.saturating_add(piece.len_bytes);
            let head = Head {
                end: piece.start.saturating_add(piece.len_bytes),
                file_end: (index, piece.offset.saturating_add(piece.len_bytes)),
            };
            heads.insert(laid.device, head);
        }
    }
    seeks
}

/// Behind the last byte that was read of a device, and of which file that is.
struct Head {
    end: u64,
    file_end: (usize, u64),
}

/// Bytes that are read at once.
struct Piece {
    offset: u64,
    start: u64,
    len_bytes: u64,
}

/// All page runs by their first access; those of one event by page.
fn in_order(files: &[FileAccess]) -> Vec<(usize, PageRun)> {
    let runs = files.iter().enumerate();
    let mut runs: Vec<(usize, PageRun)> = runs
        .flat_map(|(index, file)| file.pages.iter().map(move |run| (index, *run)))
        .collect();
    runs.sort_by_key(|(index, run)| (run.rank, *index, run.first_page));
    runs
}

/// What the disk is asked for to read bytes of a file; nothing for holes and for what was never
/// written.
fn pieces(extents: &[Extent], first: u64, end: u64) -> impl Iterator<Item = Piece> {
    let begin = extents.partition_point(|extent| extent.end() <= first);
    let touched = extents.get(begin..).unwrap_or_default().iter();
    let touched = touched.take_while(move |extent| extent.offset < end);
    touched.filter_map(move |extent| {
        let Place::Disk(start) = extent.place else {
            return None;
        };
        let offset = extent.offset.max(first);
        let inside = offset.saturating_sub(extent.offset);
        (!extent.is_unwritten).then(|| Piece {
            offset,
            start: start.saturating_add(inside),
            len_bytes: extent.end().min(end).saturating_sub(offset),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extents::tests::extent;

    const PAGE: u64 = PAGE_SIZE_BYTES;

    /// Extents of a page each, at these pages of the device, one behind the other in the file.
    fn laid(device: u64, places: &[u64]) -> Laid {
        let extents = (0..).zip(places);
        Laid {
            device,
            extents: extents
                .map(|(page, place)| extent(page * PAGE, place * PAGE, PAGE))
                .collect(),
        }
    }

    /// Page runs of each file: first page, last page, rank.
    fn set(files: &[&[(u64, u64, u64)]]) -> WorkingSet {
        let run = |&(first_page, last_page, rank): &(u64, u64, u64)| PageRun {
            first_page,
            last_page,
            rank,
            certain: true,
        };
        let files = files.iter().map(|runs| FileAccess {
            path: b"/file".to_vec(),
            first_rank: 0,
            pages: runs.iter().map(run).collect(),
        });
        WorkingSet {
            files: files.collect(),
            ..WorkingSet::default()
        }
    }

    #[test]
    fn a_file_in_one_extent_is_read_without_a_seek() {
        let found = seeks(&set(&[&[(0, 2, 0)]]), &[Some(laid(1, &[10, 11, 12]))]);
        assert_eq!((found.count, found.distance_bytes), (0, 0));
        assert_eq!(found.read_bytes, 3 * PAGE);
    }

    #[test]
    fn fragments_cost_seeks_that_one_extent_would_not() {
        let found = seeks(&set(&[&[(0, 2, 0)]]), &[Some(laid(1, &[10, 20, 12]))]);
        assert_eq!((found.count, found.count_unfragmented), (2, 0));
        // From 11 to 20, and from 21 back to 12.
        assert_eq!(found.distance_bytes, (9 + 9) * PAGE);
        assert_eq!(found.files[0].count, 2);
    }

    #[test]
    fn the_order_of_the_trace_decides_and_each_device_has_a_head() {
        // Page 1 of the first file, then the second file, then page 0 of the first.
        let set = set(&[&[(0, 0, 9), (1, 1, 3)], &[(0, 0, 5)]]);
        let one_disk = [laid(1, &[10, 11]), laid(1, &[12])].map(Some);
        let found = seeks(&set, &one_disk);
        assert_eq!((found.count, found.distance_bytes), (1, 3 * PAGE));
        // Without fragments it is two: nobody knows that the second file lies behind the first.
        assert_eq!(found.count_unfragmented, 2);
        let two_disks = [laid(1, &[10, 11]), laid(2, &[12])].map(Some);
        assert_eq!(seeks(&set, &two_disks).distance_bytes, 2 * PAGE);
    }

    #[test]
    fn holes_and_files_that_are_not_there_are_not_read() {
        let mut sparse = laid(1, &[10, 11, 12]);
        sparse.extents[1].is_unwritten = true;
        let found = seeks(&set(&[&[(0, 9, 0)], &[(0, 0, 1)]]), &[Some(sparse), None]);
        assert_eq!((found.read_bytes, found.count), (2 * PAGE, 1));
        assert_eq!(found.count_unfragmented, 0);
        assert_eq!(found.files[1], FileSeeks::default());
    }
}
