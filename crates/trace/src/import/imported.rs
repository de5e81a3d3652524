//! What a recording of another tool tells, and the trace that it becomes.

use std::collections::HashMap;

use super::notes::{UNREAD_NAMED_MAX, Unread, map};
use super::paths::{below, join};
use crate::event::{Access, Event, PAGE_SIZE_BYTES, Trace};
use crate::excerpt::Excerpt;

/// One access as the recorder told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sighting {
    pub(super) time_us: u64,
    pub(super) pid: u32,
    pub(super) seen: Seen,
    /// Absolute and plain.
    pub(super) path: Vec<u8>,
}

/// What was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// An access to what the path leads to.
    Access(Access),
    /// The inode at the path itself was needed: a symbolic link was not followed.
    Link,
    /// The file was used, it is not known which part of it.
    File {
        /// Its length, if that is known.
        size_bytes: Option<u64>,
    },
}

/// What a recording of another tool tells.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    pub(super) sightings: Vec<Sighting>,
    /// The first lines that were not understood.
    pub unread: Vec<Unread>,
    /// How many lines were not understood.
    pub unread_count: u64,
    /// How many accesses were outside of what is recorded: on another device, or not below the
    /// prefix.
    pub elsewhere_count: u64,
}

/// Where a path leads in the image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// The symbolic links on the way, in order.
    pub links: Vec<Vec<u8>>,
    /// Where they lead.
    pub path: Vec<u8>,
    /// How many bytes of data are there: 0 for what is no regular file, `None` if it is not known.
    pub size_bytes: Option<u64>,
}

impl Imported {
    /// Files that were used one after the other; nothing else is known.
    pub fn of_files(paths: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let mut imported = Self::default();
        for (path, time_us) in paths.into_iter().zip(0..) {
            imported.add(Sighting {
                time_us,
                pid: 0,
                seen: Seen::File { size_bytes: None },
                path: join(b"/", &path),
            });
        }
        imported
    }

    /// Whether nothing was understood that concerns the image.
    pub fn is_empty(&self) -> bool {
        self.sightings.is_empty()
    }

    /// Counts a line that was not understood. The first of them are kept, with what `text` gives.
    pub fn cannot_read<'text>(
        &mut self,
        part: usize,
        line: u64,
        why: &'static str,
        text: impl FnOnce() -> &'text [u8],
    ) {
        self.unread_count += 1;
        if self.unread.len() < UNREAD_NAMED_MAX {
            let found = Excerpt::new(text());
            self.unread.push(Unread {
                part,
                line,
                found,
                why,
            });
        }
    }

    /// Adds a sighting; one that repeats or continues the one before it becomes one with that.
    pub(super) fn add(&mut self, sighting: Sighting) {
        let last = self.sightings.last_mut();
        let same = last.filter(|last| last.pid == sighting.pid && last.path == sighting.path);
        if let Some(last) = same {
            match (&mut last.seen, sighting.seen) {
                (
                    Seen::Access(Access::Read { last_page, .. }),
                    Seen::Access(Access::Read {
                        first_page,
                        last_page: end,
                    }),
                ) if first_page == *last_page || Some(first_page) == last_page.checked_add(1) => {
                    *last_page = end;
                    return;
                }
                (before, now) if *before == now => return,
                _ => {}
            }
        }
        self.sightings.push(sighting);
    }

    /// Takes a prefix, such as the directory in which the image was mounted, from all paths.
    /// Accesses elsewhere are dropped and counted.
    pub fn strip(&mut self, prefix: &[u8]) {
        let prefix = join(b"/", prefix);
        let before = self.sightings.len();
        self.sightings.retain_mut(|sighting| {
            let inside = below(&sighting.path, &prefix).map(<[u8]>::to_vec);
            let is_inside = inside.is_some();
            sighting.path = inside.unwrap_or_default();
            is_inside
        });
        self.elsewhere_count += (before - self.sightings.len()) as u64;
    }

    /// The trace: events in the order of their times, which begin with 0.
    ///
    /// * `settle`: where a path leads; the flag says whether a symbolic link at its end is
    ///   followed. Asked once for each path and flag.
    ///
    /// A file that was used in an unknown part is looked up, and all its pages may have been
    /// needed; only the first, if its length is not known.
    ///
    /// # Cost
    ///
    /// O(n log n) in the sightings; a path is kept once more while this runs.
    pub fn into_trace(mut self, mut settle: impl FnMut(&[u8], bool) -> Settled) -> Trace {
        self.sightings.sort_by_key(|sighting| sighting.time_us);
        let begin_us = self.sightings.first().map_or(0, |first| first.time_us);
        let mut known: HashMap<(Vec<u8>, bool), Settled> = HashMap::new();
        let mut trace = Trace::default();
        for Sighting {
            time_us,
            pid,
            seen,
            path,
        } in self.sightings
        {
            let mut note = |access, path: &[u8]| {
                trace.events.push(Event {
                    time_us: time_us - begin_us,
                    pid,
                    access,
                    path: path.to_vec(),
                });
            };
            let settled = known.entry((path, seen != Seen::Link));
            let settled = settled.or_insert_with_key(|(path, follows)| {
                let settled = settle(path, *follows);
                for link in &settled.links {
                    note(Access::Lookup, link);
                }
                settled
            });
            match seen {
                Seen::Link => note(Access::Lookup, &settled.path),
                Seen::Access(access) => {
                    if let Some(access) = clipped(access, settled.size_bytes) {
                        note(access, &settled.path);
                    }
                }
                Seen::File { size_bytes } => {
                    note(Access::Lookup, &settled.path);
                    let size_bytes = settled.size_bytes.or(size_bytes);
                    let pages = clipped(map(0, u64::MAX), Some(size_bytes.unwrap_or(1)));
                    if let Some(pages) = pages {
                        note(pages, &settled.path);
                    }
                }
            }
        }
        trace
    }
}

/// An access without the pages behind the end of the file; `None` if nothing is left of it.
fn clipped(access: Access, size_bytes: Option<u64>) -> Option<Access> {
    let (Some((first_page, last_page)), Some(size_bytes)) = (access.pages(), size_bytes) else {
        return Some(access);
    };
    let end_page = size_bytes.checked_sub(1)? / PAGE_SIZE_BYTES;
    if first_page > end_page {
        return None;
    }
    let last_page = last_page.min(end_page);
    Some(match access {
        Access::Read { .. } => Access::Read {
            first_page,
            last_page,
        },
        Access::Map { .. } => map(first_page, last_page),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::super::notes::read;
    use super::*;

    fn sighting(time_us: u64, seen: Seen, path: &str) -> Sighting {
        Sighting {
            time_us,
            pid: 7,
            seen,
            path: path.as_bytes().to_vec(),
        }
    }

    fn text(trace: &Trace) -> String {
        let mut text = Vec::new();
        trace.write(&mut text).expect("lawful");
        let text = String::from_utf8(text).expect("text");
        text.split_once('\n').expect("a first line").1.to_owned()
    }

    /// `/l` leads to `/d`, `/d` has 3 pages, `/e` none, of others nothing is known.
    fn settle(path: &[u8], follows: bool) -> Settled {
        let (links, path): (Vec<Vec<u8>>, &[u8]) = match path {
            b"/l" if follows => (vec![b"/l".to_vec()], b"/d"),
            path => (Vec::new(), path),
        };
        let size_bytes = match path {
            b"/d" => Some(2 * PAGE_SIZE_BYTES + 1),
            b"/e" | b"/l" => Some(0),
            _ => None,
        };
        Settled {
            links,
            path: path.to_vec(),
            size_bytes,
        }
    }

    #[test]
    fn sightings_become_events_in_the_order_of_their_times() {
        let mut imported = Imported::default();
        let file = |size_bytes| Seen::File { size_bytes };
        for (time_us, seen, path) in [
            (1005, file(None), "/l"),
            (1004, Seen::Link, "/l"),
            (1006, Seen::Access(read(1, 9)), "/d"),
            (1007, Seen::Access(read(3, 9)), "/d"),
            (1008, file(Some(9000)), "/x"),
            (1009, file(None), "/y"),
            (1010, file(Some(7)), "/e"),
            (1011, Seen::Access(Access::List), "/l"),
        ] {
            imported.sightings.push(sighting(time_us, seen, path));
        }
        let expected = "0 7 L /l\n1 7 L /l\n1 7 L /d\n1 7 M 0-2 /d\n2 7 R 1-2 /d\n4 7 L /x\n\
                        4 7 M 0-2 /x\n5 7 L /y\n5 7 M 0-0 /y\n6 7 L /e\n7 7 D /d\n";
        assert_eq!(text(&imported.into_trace(settle)), expected);
    }

    #[test]
    fn reads_that_follow_each_other_are_one() {
        let mut imported = Imported::default();
        for (first, last, path) in [
            (0, 0, "/a"),
            (0, 0, "/a"),
            (1, 3, "/a"),
            (3, 4, "/a"),
            (6, 6, "/a"),
            (7, 7, "/b"),
        ] {
            imported.add(sighting(0, Seen::Access(read(first, last)), path));
        }
        let trace = imported.into_trace(settle);
        assert_eq!(text(&trace), "0 7 R 0-4 /a\n0 7 R 6-6 /a\n0 7 R 7-7 /b\n");
    }

    #[test]
    fn what_is_outside_of_the_prefix_is_dropped_and_counted() {
        let paths = ["/snap/x/1/bin/a", "/etc/passwd", "/snap/x/1", "/snap/x/12"];
        let paths = paths.map(|path| path.as_bytes().to_vec());
        let mut imported = Imported::of_files(paths);
        imported.strip(b"/snap/x//1/");
        assert_eq!(imported.elsewhere_count, 2);
        let paths: Vec<_> = imported.sightings.iter().map(|it| &it.path[..]).collect();
        assert_eq!(paths, [&b"/bin/a"[..], b"/"]);
    }
}
