//! Pages of files that are in memory, by blocks: whoever reads a page of a block fills them all.

use std::collections::{HashMap, HashSet};

/// Pages of files, of which memory has room for all.
#[derive(Debug)]
pub(crate) struct Pages {
    /// Pages of a block.
    per_block: u64,
    /// When each block was there, by file and number.
    ready_s: HashMap<(usize, u64), f64>,
    /// Pages behind which the next window is to be read (`PG_readahead`).
    marks: HashSet<(usize, u64)>,
}

impl Pages {
    pub(crate) fn new(block_pages: u64) -> Self {
        Self {
            per_block: block_pages.max(1),
            ready_s: HashMap::new(),
            marks: HashSet::new(),
        }
    }

    pub(crate) fn block_pages(&self) -> u64 {
        self.per_block
    }

    /// The block that holds a page.
    pub(crate) fn block_of(&self, page: u64) -> u64 {
        page / self.per_block
    }

    /// When a page was there, or will be.
    pub(crate) fn ready_s(&self, file: usize, page: u64) -> Option<f64> {
        self.ready_s.get(&(file, self.block_of(page))).copied()
    }

    /// Whether a block is there.
    pub(crate) fn has_block(&self, file: usize, block: u64) -> bool {
        self.ready_s.contains_key(&(file, block))
    }

    /// Notes that a block is there from a moment on.
    pub(crate) fn fill(&mut self, file: usize, block: u64, now_s: f64) {
        self.ready_s.entry((file, block)).or_insert(now_s);
    }

    /// Marks a page.
    pub(crate) fn mark(&mut self, file: usize, page: u64) {
        self.marks.insert((file, page));
    }

    /// Whether a page is marked.
    pub(crate) fn is_marked(&self, file: usize, page: u64) -> bool {
        self.marks.contains(&(file, page))
    }

    /// Takes the mark of a page that is used; returns whether it had one.
    pub(crate) fn take_mark(&mut self, file: usize, page: u64) -> bool {
        self.marks.remove(&(file, page))
    }

    /// How many pages right before a page are there, at most `max`, and whether these are all
    /// (`page_cache_prev_miss`).
    pub(crate) fn present_before(&self, file: usize, page: u64, max: u64) -> (u64, bool) {
        let mut first = page;
        while first > 0 && page - first < max && self.ready_s(file, first - 1).is_some() {
            first = self.block_of(first - 1) * self.per_block;
        }
        let count = page - first;
        (count.min(max), first == 0 && count <= max)
    }

    /// The first page behind a page that is not there, if it is at most `max` further
    /// (`page_cache_next_miss`).
    pub(crate) fn next_absent(&self, file: usize, page: u64, max: u64) -> Option<u64> {
        let mut next = page + 1;
        while next - page <= max {
            if self.ready_s(file, next).is_none() {
                return Some(next);
            }
            next = (self.block_of(next) + 1) * self.per_block;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_are_counted_by_blocks() {
        let mut pages = Pages::new(4);
        for block in [0, 1, 3] {
            pages.fill(7, block, 1.0);
        }
        pages.fill(7, 1, 9.0);
        assert_eq!(pages.ready_s(7, 5), Some(1.0));
        assert_eq!(pages.ready_s(7, 8), None);
        assert_eq!(pages.ready_s(8, 0), None);
        assert_eq!(pages.present_before(7, 8, 100), (8, true));
        assert_eq!(pages.present_before(7, 8, 5), (5, false));
        assert_eq!(pages.present_before(7, 16, 100), (4, false));
        assert_eq!(pages.present_before(7, 0, 100), (0, true));
        assert_eq!(pages.next_absent(7, 0, 100), Some(8));
        assert_eq!(pages.next_absent(7, 0, 7), None);
        assert_eq!(pages.next_absent(7, 13, 7), Some(16));
    }

    #[test]
    fn a_mark_is_taken_once() {
        let mut pages = Pages::new(4);
        pages.mark(1, 2);
        assert!(pages.is_marked(1, 2));
        assert!(pages.take_mark(1, 2));
        assert!(!pages.take_mark(1, 2));
    }
}
