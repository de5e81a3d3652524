//! The working set: what a start touched, each thing once, in the order of the first access.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use crate::coverage::Coverage;
use crate::event::{Access, Event, Trace};

/// What a trace touched. A rank is the index of an event in the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkingSet {
    /// Files whose data was accessed, by [`FileAccess::first_rank`].
    pub files: Vec<FileAccess>,
    /// Paths whose inode was needed, in first-access order. An event of any kind counts: data
    /// cannot be read without the inode, whether or not the recorder saw the lookup.
    pub lookups: Vec<Vec<u8>>,
    /// Directories whose listing was read, in first-access order: by a List event, or because a
    /// name in it was found, that is before the first event of any child. Directories above these
    /// are not repeated here; a layout that needs them walks the path.
    pub lists: Vec<Vec<u8>>,
}

/// The accesses to the data of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileAccess {
    /// Absolute path, raw bytes.
    pub path: Vec<u8>,
    /// Rank of the first certain access, or of the first Map event if there is none.
    pub first_rank: u64,
    /// The pages that were touched: ascending, each page in one run.
    pub pages: Vec<PageRun>,
}

/// Consecutive pages whose first access was the same event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRun {
    /// First page.
    pub first_page: u64,
    /// Last page, inclusive.
    pub last_page: u64,
    /// Rank of the first certain access, or of the first Map event if there is none.
    pub rank: u64,
    /// Whether the pages were read or faulted on, rather than only mapped by fault-around.
    pub certain: bool,
}

impl FileAccess {
    /// The lowest rank among the pages that were touched in `pages`, certainly or maybe; `None`
    /// if none was.
    pub fn touches(&self, pages: RangeInclusive<u64>) -> Option<u64> {
        self.runs(pages).map(|run| run.rank).min()
    }

    /// The lowest rank among the pages that were surely needed in `pages`; `None` if none was.
    pub fn touches_certainly(&self, pages: RangeInclusive<u64>) -> Option<u64> {
        self.runs(pages)
            .filter(|run| run.certain)
            .map(|run| run.rank)
            .min()
    }

    /// The runs that share a page with `pages`, found by binary search.
    pub(crate) fn runs(&self, pages: RangeInclusive<u64>) -> impl Iterator<Item = &PageRun> {
        let begin = self
            .pages
            .partition_point(|run| run.last_page < *pages.start());
        self.pages[begin..]
            .iter()
            .take_while(move |run| run.first_page <= *pages.end())
    }
}

impl Trace {
    /// Reduces the events to what was touched.
    ///
    /// # Cost
    ///
    /// O(n log n) in the number of events.
    pub fn working_set(&self) -> WorkingSet {
        WorkingSet {
            files: files(&self.events),
            lookups: first_of_each(self.events.iter().map(|event| event.path.as_slice())),
            lists: first_of_each(
                self.events
                    .iter()
                    .flat_map(|event| listed(event.access, &event.path)),
            ),
        }
    }
}

/// The directories whose listing was read by the time of an access to a path.
pub(crate) fn listed(access: Access, path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let itself = (access == Access::List).then_some(path);
    parent(path).into_iter().chain(itself)
}

/// The directory that holds the last name of a path; the root is in none.
pub fn parent(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().rposition(|&byte| byte == b'/')?;
    (path.len() > 1).then(|| &path[..slash.max(1)])
}

fn first_of_each<'a>(paths: impl Iterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let mut seen = HashSet::new();
    paths
        .filter(|path| seen.insert(*path))
        .map(<[u8]>::to_vec)
        .collect()
}

/// A file while its pages are collected.
struct Sheet<'a> {
    path: &'a [u8],
    first_rank: u64,
    covered: Coverage,
    pages: Vec<PageRun>,
}

/// Collects certain accesses first: where a page is both read and mapped, the reading counts,
/// because only that says when the page was needed.
fn files(events: &[Event]) -> Vec<FileAccess> {
    let mut sheets: Vec<Sheet<'_>> = Vec::new();
    let mut places = HashMap::new();
    for certain in [true, false] {
        for (event, rank) in events.iter().zip(0..) {
            let Some((first, last)) = event.access.pages() else {
                continue;
            };
            if event.access.is_certain() != certain || first > last {
                continue;
            }
            let path = event.path.as_slice();
            let place = *places.entry(path).or_insert(sheets.len());
            if place == sheets.len() {
                let (covered, pages) = (Coverage::default(), Vec::new());
                sheets.push(Sheet {
                    path,
                    first_rank: rank,
                    covered,
                    pages,
                });
            }
            let Sheet { covered, pages, .. } = &mut sheets[place];
            covered.cover(first, last, |first_page, last_page| {
                pages.push(PageRun {
                    first_page,
                    last_page,
                    rank,
                    certain,
                });
            });
        }
    }
    sheets.sort_unstable_by_key(|sheet| sheet.first_rank);
    let finish = |Sheet {
                      path,
                      first_rank,
                      mut pages,
                      ..
                  }: Sheet<'_>| {
        pages.sort_unstable_by_key(|run| run.first_page);
        FileAccess {
            path: path.to_vec(),
            first_rank,
            pages,
        }
    };
    sheets.into_iter().map(finish).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(accesses: &[(Access, &str)]) -> Trace {
        let event = |&(access, path): &(Access, &str)| Event {
            time_us: 0,
            pid: 1,
            access,
            path: path.as_bytes().to_vec(),
        };
        Trace {
            events: accesses.iter().map(event).collect(),
            ..Trace::default()
        }
    }

    fn run(first_page: u64, last_page: u64, rank: u64, certain: bool) -> PageRun {
        PageRun {
            first_page,
            last_page,
            rank,
            certain,
        }
    }

    #[test]
    fn files_come_by_first_certain_access_and_their_pages_do_not_overlap() {
        let set = trace(&[
            (
                Access::Map {
                    first_page: 0,
                    last_page: 15,
                },
                "/lib",
            ),
            (
                Access::Map {
                    first_page: 0,
                    last_page: 3,
                },
                "/map",
            ),
            (
                Access::Read {
                    first_page: 0,
                    last_page: 0,
                },
                "/bin",
            ),
            (Access::Fault { page: 4 }, "/lib"),
            (
                Access::Read {
                    first_page: 3,
                    last_page: 6,
                },
                "/lib",
            ),
        ])
        .working_set();
        let paths: Vec<_> = set.files.iter().map(|file| file.path.as_slice()).collect();
        assert_eq!(paths, [&b"/map"[..], b"/bin", b"/lib"]);
        let lib = [
            run(0, 2, 0, false),
            run(3, 3, 4, true),
            run(4, 4, 3, true),
            run(5, 6, 4, true),
            run(7, 15, 0, false),
        ];
        assert_eq!(set.files[2].pages, lib);
        assert_eq!(set.files[2].first_rank, 3);
    }

    #[test]
    fn ranges_of_pages_are_asked_for_their_first_touch() {
        let pages = vec![run(2, 3, 7, false), run(5, 8, 9, true), run(9, 9, 1, true)];
        let file = FileAccess {
            path: b"/a".to_vec(),
            first_rank: 1,
            pages,
        };
        let cases = [
            (0..=1, None, None),
            (0..=2, Some(7), None),
            (4..=4, None, None),
            (3..=5, Some(7), Some(9)),
            (6..=7, Some(9), Some(9)),
            (0..=100, Some(1), Some(1)),
            (10..=20, None, None),
        ];
        for (pages, any, certain) in cases {
            assert_eq!(file.touches(pages.clone()), any, "{pages:?}");
            assert_eq!(file.touches_certainly(pages.clone()), certain, "{pages:?}");
        }
    }

    #[test]
    fn every_event_looks_its_path_up_and_lists_its_directory() {
        let set = trace(&[
            (Access::Lookup, "/"),
            (Access::List, "/usr/lib"),
            (Access::Fault { page: 0 }, "/usr/bin/git"),
            (Access::Lookup, "/usr/bin/git"),
            (Access::Lookup, "/etc"),
        ])
        .working_set();
        assert_eq!(
            set.lookups,
            [&b"/"[..], b"/usr/lib", b"/usr/bin/git", b"/etc"]
        );
        assert_eq!(set.lists, [&b"/usr"[..], b"/usr/lib", b"/usr/bin", b"/"]);
    }
}
