//! From bytes of an image to pages of files, where each page lies at a page of its own.

use std::collections::HashSet;
use std::ops::Range;

use coldpress_image::{Error, Image, MetadataMap, walk};

use super::PAGE;

/// Where everything lies.
pub(super) struct PageMap {
    metadata: MetadataMap,
    /// From the first inode on.
    metadata_start: u64,
    listings: Range<u64>,
    /// Sorted by start; they do not overlap, as each file has data of its own.
    runs: Vec<Run>,
    /// Inode numbers, and last pages of runs.
    ends: HashSet<(u64, u64)>,
}

/// Pages of a file that lie one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    start: u64,
    end: u64,
    inode: u64,
    first_page: u64,
}

impl PageMap {
    /// Walks the image.
    pub(super) fn new(image: &Image) -> Result<Self, Error> {
        let mut runs = Vec::new();
        let mut seen = HashSet::new();
        walk(image, &mut |visited| {
            if !seen.insert(visited.inode.number) {
                return Ok(());
            }
            if let Some(file) = visited.file(image)? {
                let inode = visited.inode.number.into();
                for (page, block) in image.stored_blocks(&file).enumerate() {
                    add(
                        &mut runs,
                        inode,
                        page as u64,
                        block.start,
                        block.word.size_bytes().into(),
                    );
                }
            }
            Ok(())
        })?;
        runs.sort_unstable_by_key(|run| run.start);
        let metadata = MetadataMap::new(image)?;
        let last = |run: &Run| run.first_page + (run.end - run.start).saturating_sub(1) / PAGE;
        let ends = runs.iter().map(|run| (run.inode, last(run))).collect();
        Ok(Self {
            metadata_start: image.superblock().inode_table_start,
            listings: metadata.listings(),
            metadata,
            runs,
            ends,
        })
    }

    /// Inodes and listings.
    pub(super) fn metadata(&self) -> &MetadataMap {
        &self.metadata
    }

    pub(super) fn is_metadata(&self, byte: u64) -> bool {
        byte >= self.metadata_start
    }

    pub(super) fn is_listing(&self, byte: u64) -> bool {
        self.listings.contains(&byte)
    }

    /// Whether nothing of a file follows a page that takes bytes.
    pub(super) fn ends_with(&self, inode: u64, page: u64) -> bool {
        self.ends.contains(&(inode, page))
    }

    /// Pages of files in a range of bytes: inode number, first and last page.
    pub(super) fn pages(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64, u64)> {
        let first = self.runs.partition_point(|run| run.end <= start);
        let runs = self.runs.iter().skip(first);
        runs.take_while(move |run| run.start < end).map(move |run| {
            let page = |byte: u64| run.first_page + (byte - run.start) / PAGE;
            let (from, to) = (start.max(run.start), end.min(run.end));
            (run.inode, page(from), page(to - 1))
        })
    }
}

/// Adds a block; zeros take no bytes, and nobody reads them.
fn add(runs: &mut Vec<Run>, inode: u64, page: u64, start: u64, size_bytes: u64) {
    if size_bytes == 0 {
        return;
    }
    let end = start.saturating_add(size_bytes);
    let goes_on = |run: &&mut Run| {
        run.inode == inode
            && run.end == start
            && (start - run.start) / PAGE + run.first_page == page
    };
    match runs.last_mut().filter(goes_on) {
        Some(run) => run.end = end,
        None => runs.push(Run {
            start,
            end,
            inode,
            first_page: page,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_until_zeros_come_between() {
        let mut runs = Vec::new();
        for (page, start, size_bytes) in [
            (0, 8192, 4096),
            (1, 12_288, 4096),
            (2, 16_384, 0),
            (3, 16_384, 100),
        ] {
            add(&mut runs, 7, page, start, size_bytes);
        }
        let run = |start, end, first_page| Run {
            start,
            end,
            inode: 7,
            first_page,
        };
        assert_eq!(runs, [run(8192, 16_384, 0), run(16_384, 16_484, 3)]);
    }
}
