//! The kernel's readahead (`mm/readahead.c`, `mm/filemap.c` of Linux 6.18), in pages.

/// `bdi->io_pages` of a loop device: a single read may ask for as many pages beyond the readahead
/// window.
const IO_PAGES: u64 = 320;
/// Faults that miss, less those that hit, after which the kernel no longer reads around them
/// (`MMAP_LOTSAMISS`), and how many it counts at most.
const MISSES_MAX: u32 = 100;
const MISSES_COUNTED: u32 = 10 * MISSES_MAX;

/// What an open file knows of how it is read (`file_ra_state`).
#[derive(Clone, Debug)]
pub(crate) struct OpenFile {
    /// The window that was read ahead last.
    start: u64,
    size: u64,
    /// The part of it behind the page that, when it is used, has the next window read.
    async_size: u64,
    /// Where the read before ended.
    before: u64,
    misses: u32,
}

/// Pages to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start: u64,
    pub(crate) pages: u64,
    /// How many of them, at the end, are read ahead: the first of these is marked.
    pub(crate) ahead: u64,
    /// Whether the open file remembers it.
    is_remembered: bool,
}

impl OpenFile {
    pub(crate) fn new() -> Self {
        Self {
            start: 0,
            size: 0,
            async_size: 0,
            // Far from every page.
            before: u64::MAX >> 12,
            misses: 0,
        }
    }

    /// A read ended before this page.
    pub(crate) fn note_read(&mut self, end: u64) {
        self.before = end;
    }

    /// A read of `count` pages finds the first of them, `page`, absent (`page_cache_sync_ra`).
    ///
    /// * `max`: pages of readahead.
    /// * `present_before`: how many pages right before `page` are in memory; the second value
    ///   says whether these are all from the file's beginning on.
    pub(crate) fn miss(
        &mut self,
        page: u64,
        count: u64,
        max: u64,
        present_before: (u64, bool),
    ) -> Window {
        if max == 0 {
            // Without readahead one page is asked for (`force_page_cache_ra`).
            return Window {
                start: page,
                pages: 1,
                ahead: 0,
                is_remembered: false,
            };
        }
        let max = most(count, max);
        if page == 0 || count > max || page.wrapping_sub(self.before) <= 1 {
            let size = first_size(count, max);
            let ahead = if size > count { size - count } else { size / 2 };
            return self.remember(page, size, ahead);
        }
        let (mut contiguous, is_all) = present_before;
        if contiguous <= count {
            return Window {
                start: page,
                pages: count,
                ahead: 0,
                is_remembered: false,
            };
        }
        if is_all {
            contiguous *= 2;
        }
        self.remember(page, (contiguous + count).min(max), 1)
    }

    /// A marked page is used (`page_cache_async_ra`).
    ///
    /// * `next_absent`: the first page behind it that is not in memory, if it is near.
    pub(crate) fn reach_mark(
        &mut self,
        page: u64,
        count: u64,
        max: u64,
        next_absent: Option<u64>,
    ) -> Option<Window> {
        let max = most(count, max);
        let (start, size) = if page == (self.start + self.size).saturating_sub(self.async_size) {
            let next = next_size(self.size, max);
            (self.start + self.size, self.size.max(next))
        } else {
            let start = next_absent?;
            (start, next_size(start - page + count, max))
        };
        // Windows end at multiples of four pages, as for the smallest large folio.
        let end = (start + size) & !3;
        let size = if end > start { end - start } else { size };
        Some(self.remember(start, size, size))
    }

    /// A fault finds its page absent (`do_sync_mmap_readahead`); none if only its block is to be
    /// read.
    ///
    /// * `executable`: the last page of the mapping, if it is one of code.
    pub(crate) fn fault(&mut self, page: u64, max: u64, executable: Option<u64>) -> Option<Window> {
        self.misses = (self.misses + 1).min(MISSES_COUNTED);
        if max == 0 || self.misses > MISSES_MAX {
            return None;
        }
        Some(match executable {
            // Code is not read in order, so nothing before it and nothing further.
            Some(last) => self.remember(page, max.min((last + 1).saturating_sub(page)).max(1), 0),
            None => self.remember(page.saturating_sub(max / 2), max, max / 4),
        })
    }

    /// Faults find so many pages present.
    pub(crate) fn note_hits(&mut self, count: u32) {
        self.misses = self.misses.saturating_sub(count);
    }

    /// The window became longer, as its last block is read whole (`readahead_expand`).
    pub(crate) fn expand(&mut self, window: Window, pages: u64) {
        if window.is_remembered {
            self.size += pages;
            self.async_size += pages;
        }
    }

    fn remember(&mut self, start: u64, pages: u64, ahead: u64) -> Window {
        (self.start, self.size, self.async_size) = (start, pages, ahead);
        Window {
            start,
            pages,
            ahead,
            is_remembered: true,
        }
    }
}

/// `ractl_max_pages`.
fn most(count: u64, max: u64) -> u64 {
    if count > max && IO_PAGES > max {
        count.min(IO_PAGES)
    } else {
        max
    }
}

/// `get_init_ra_size`.
fn first_size(count: u64, max: u64) -> u64 {
    let size = count.next_power_of_two();
    if size <= max / 32 {
        size * 4
    } else if size <= max / 4 {
        size * 2
    } else {
        max
    }
}

/// `get_next_ra_size`.
fn next_size(size: u64, max: u64) -> u64 {
    if size < max / 16 {
        size * 4
    } else if size <= max / 2 {
        size * 2
    } else {
        max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(window: Window) -> (u64, u64, u64) {
        (window.start, window.pages, window.ahead)
    }

    #[test]
    fn a_file_that_is_read_in_order_is_read_ahead_in_growing_windows() {
        let mut file = OpenFile::new();
        assert_eq!(parts(file.miss(0, 1, 128, (0, true))), (0, 4, 3));
        let mut mark = 1;
        for expected in [(4, 16, 16), (20, 32, 32), (52, 64, 64), (116, 128, 128)] {
            let window = file.reach_mark(mark, 1, 128, None).map(parts);
            assert_eq!(window, Some(expected));
            mark = expected.0;
        }
    }

    #[test]
    fn a_single_read_reads_what_it_asks_for() {
        let mut file = OpenFile::new();
        assert_eq!(parts(file.miss(50, 3, 128, (0, false))), (50, 3, 0));
        assert_eq!(parts(file.miss(70, 3, 128, (4, false))), (70, 7, 1));
        file.note_read(73);
        assert_eq!(parts(file.miss(73, 4, 128, (0, false))), (73, 16, 12));
    }

    #[test]
    fn data_is_read_around_a_fault_and_code_behind_it() {
        let mut file = OpenFile::new();
        assert_eq!(file.fault(200, 128, None).map(parts), Some((136, 128, 32)));
        assert_eq!(file.fault(10, 128, None).map(parts), Some((0, 128, 32)));
        assert_eq!(
            file.fault(10, 128, Some(500)).map(parts),
            Some((10, 128, 0))
        );
        assert_eq!(file.fault(10, 128, Some(20)).map(parts), Some((10, 11, 0)));
    }

    #[test]
    fn without_readahead_a_read_asks_for_a_page_and_a_fault_for_its_block() {
        let mut file = OpenFile::new();
        assert_eq!(parts(file.miss(0, 3, 0, (0, true))), (0, 1, 0));
        assert_eq!(parts(file.miss(1, 3, 0, (1, true))), (1, 1, 0));
        assert_eq!(file.fault(200, 0, None), None);
        assert_eq!(file.fault(200, 0, Some(500)), None);
    }

    #[test]
    fn faults_that_mostly_miss_read_nothing_around_them() {
        let mut file = OpenFile::new();
        for _ in 0..100 {
            assert!(file.fault(1000, 128, None).is_some());
        }
        assert!(file.fault(1000, 128, None).is_none());
        file.note_hits(2);
        assert!(file.fault(1000, 128, None).is_some());
    }
}
