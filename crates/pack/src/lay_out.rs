//! Where each page lies in a pack.

use std::ops::Range;

use coldpress_format::{PACK_PAGE_BYTES, PackFile, PackIndex, PackPiece, PackRun};

use crate::touched_pages::TouchedPage;

/// Pages of a piece.
const PIECE_PAGES: usize = 256;
const _: () = assert!(PIECE_PAGES as u64 * PACK_PAGE_BYTES == PackPiece::LEN_MAX as u64);

/// Pages that are sorted by file: more make longer runs, which take fewer requests, and let a slow
/// disk deliver the first of them later. Chromium's 33,450 pages are 15,600 runs by single pieces,
/// 14,100 by four.
const WINDOW_PAGES: usize = 4 * PIECE_PAGES;

/// Where everything lies in a pack.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Without files of which no page is packed.
    pub(crate) index: PackIndex,
    /// The number of each of its files among all that were touched.
    pub(crate) origins: Vec<usize>,
    /// The runs of each piece.
    pub(crate) pieces: Vec<Range<usize>>,
}

impl Layout {
    /// How many pages there are.
    pub(crate) fn page_count(&self) -> u64 {
        let runs = self.index.runs.iter();
        runs.map(|run| u64::from(run.page_count)).sum()
    }
}

/// Puts pages into pieces in the order in which they were touched, some pieces at a time. Among
/// those they lie by file and page.
pub(crate) fn lay_out(files: &[PackFile], pages: &[TouchedPage]) -> Layout {
    let mut index = PackIndex::default();
    let mut numbers = vec![None; files.len()];
    let (mut origins, mut pieces) = (Vec::new(), Vec::new());
    for window in pages.chunks(WINDOW_PAGES) {
        let mut number = |file: u32| {
            let origin = usize::try_from(file).unwrap_or(usize::MAX);
            *numbers[origin].get_or_insert_with(|| {
                index.files.push(files[origin].clone());
                origins.push(origin);
                u32::try_from(origins.len() - 1).unwrap_or(u32::MAX)
            })
        };
        let numbered = window.iter().map(|page| (number(page.file), page.page));
        let mut sorted: Vec<_> = numbered.collect();
        sorted.sort_unstable();
        for piece in sorted.chunks(PIECE_PAGES) {
            let first_run = index.runs.len();
            for (file, page) in piece {
                add_page(&mut index.runs, first_run, *file, *page);
            }
            pieces.push(first_run..index.runs.len());
        }
    }
    Layout {
        index,
        origins,
        pieces,
    }
}

/// Adds a page to the last run of a piece if it goes on with it, else as a run.
fn add_page(runs: &mut Vec<PackRun>, first_run: usize, file: u32, page: u64) {
    let last = runs.get_mut(first_run..).and_then(<[_]>::last_mut);
    let goes_on =
        |run: &&mut PackRun| run.file == file && run.first_page + u64::from(run.page_count) == page;
    match last.filter(goes_on) {
        Some(run) => run.page_count += 1,
        None => runs.push(PackRun {
            file,
            page_count: 1,
            first_page: page,
        }),
    }
}

#[cfg(test)]
mod tests {
    use coldpress_format::InodeRef;

    use super::*;

    #[test]
    fn pages_lie_by_time_and_those_of_four_pieces_by_file() {
        let file = |path: &str| PackFile {
            path: path.as_bytes().to_vec(),
            inode: InodeRef {
                block_start: 0,
                offset: 0,
            },
            size_bytes: 1 << 30,
            digest: [0; 16],
        };
        let page = |file, page| TouchedPage {
            file,
            page,
            rank: 0,
        };
        let files = [file("/never"), file("/late"), file("/early")];
        let mut pages: Vec<_> = (0..1024).rev().map(|at| page(2, at)).collect();
        pages.extend([page(1, 7), page(2, 3000), page(1, 6)]);
        let Layout {
            index,
            origins,
            pieces,
        } = lay_out(&files, &pages);
        assert_eq!(origins, [2, 1]);
        assert_eq!(index.files, [file("/early"), file("/late")]);
        assert_eq!(pieces, [0..1, 1..2, 2..3, 3..4, 4..6]);
        let runs = index.runs.iter();
        let runs = runs.map(|run| (run.file, run.first_page, run.page_count));
        let quarter = |at: u64| (0, at * 256, 256);
        let mut expected: Vec<_> = (0..4).map(quarter).collect();
        expected.extend([(0, 3000, 1), (1, 6, 2)]);
        assert_eq!(runs.collect::<Vec<_>>(), expected);
    }
}
