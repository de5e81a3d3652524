//! The kernel's events as accesses to paths.

use std::collections::{HashMap, HashSet};

use coldpress_format::BlockSize;
use coldpress_host::{RawEvent, RawKind, Recording};
use coldpress_image::{MetadataKind, MetadataMap};
use coldpress_trace::{Access, Event, PAGE_SIZE_BYTES, parent};

/// Pages that the kernel handles at once in a read (`PAGEVEC_SIZE`).
const BATCH_PAGES: u64 = 31;

/// The recorded image, as far as its events are to be understood.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "a function has no text")]
pub struct Recorded<'a> {
    /// Its paths, by inode number and by position.
    pub map: &'a MetadataMap,
    /// The length of the file of a path.
    pub size_bytes: &'a dyn Fn(&[u8]) -> Option<u64>,
    /// Its block size, in which the kernel reads.
    pub block_size: BlockSize,
}

/// What was accessed, in order.
pub fn events(recording: &Recording, recorded: &Recorded<'_>) -> Vec<Event> {
    let Recorded {
        map,
        size_bytes,
        block_size,
    } = *recorded;
    let silent = SilentReads::new(&recording.events, block_size);
    let mut metadata = Metadata::default();
    let mut events = Vec::new();
    for raw in &recording.events {
        let path_of = |inode: u64| u32::try_from(inode).ok().and_then(|n| map.path_of_inode(n));
        let (access, path) = match raw.kind {
            RawKind::Read {
                inode,
                first_page,
                last_page,
            } => (read(first_page, last_page), path_of(inode)),
            RawKind::Fault { inode, page } => (Access::Fault { page }, path_of(inode)),
            RawKind::Map {
                inode,
                first_page,
                last_page,
            } => {
                let access = Access::Map {
                    first_page,
                    last_page,
                };
                (access, path_of(inode))
            }
            RawKind::Cache {
                inode,
                first_page,
                last_page,
            } => {
                let path = path_of(inode);
                let size_bytes = path.and_then(size_bytes).unwrap_or(0);
                let pages = silent.pages(inode, (first_page, last_page), size_bytes);
                let Some((first_page, last_page)) = pages else {
                    continue;
                };
                (read(first_page, last_page), path)
            }
            RawKind::DeviceRead {
                start_byte,
                len_bytes,
            } => {
                for (kind, path) in map.at(start_byte, len_bytes) {
                    match kind {
                        MetadataKind::Listing => metadata.list(&mut events, raw, path),
                        MetadataKind::Inode => metadata.look_up(&mut events, raw, path),
                    }
                }
                continue;
            }
            // Not recorded here.
            RawKind::DeviceDone { .. } | RawKind::UserFault { .. } => continue,
        };
        if let Some(path) = path {
            push(&mut events, raw, access, path);
        }
    }
    events
}

fn read(first_page: u64, last_page: u64) -> Access {
    Access::Read {
        first_page,
        last_page,
    }
}

/// Appends an event; a read that goes on where the one before ended becomes one with it.
fn push(events: &mut Vec<Event>, raw: &RawEvent, access: Access, path: &[u8]) {
    if let Access::Read {
        first_page,
        last_page,
    } = access
        && let Some(before) = events.last_mut()
        && let Access::Read {
            last_page: end_page,
            ..
        } = &mut before.access
        && end_page.checked_add(1) == Some(first_page)
        && before.pid == raw.pid
        && before.path == path
    {
        *end_page = last_page;
        return;
    }
    events.push(Event {
        time_us: raw.time_us,
        pid: raw.pid,
        access,
        path: path.to_vec(),
    });
}

/// What of the metadata was read so far.
#[derive(Default)]
struct Metadata<'a> {
    looked_up: HashSet<&'a [u8]>,
    listed: HashSet<&'a [u8]>,
    /// Whether the last event lists a directory that was listed before.
    lists_again: bool,
}

impl<'a> Metadata<'a> {
    /// Appends the reading of a listing, which may be several reads. If it was read before, another
    /// name is searched in it: the kernel keeps names, found or not, but few metadata blocks.
    fn list(&mut self, events: &mut Vec<Event>, raw: &RawEvent, path: &'a [u8]) {
        let before = events.last();
        if !before.is_some_and(|before| before.is_list_of(raw.pid, path)) {
            self.lists_again = !self.listed.insert(path);
            push(events, raw, Access::List, path);
        }
    }

    /// Appends the lookup of an inode, which says itself that its name was searched. A second read
    /// is none: it is about a list of blocks that the kernel no longer keeps.
    fn look_up(&mut self, events: &mut Vec<Event>, raw: &RawEvent, path: &'a [u8]) {
        if !self.looked_up.insert(path) {
            return;
        }
        let directory = parent(path).unwrap_or(path);
        let before = events.last();
        if self.lists_again && before.is_some_and(|before| before.is_list_of(raw.pid, directory)) {
            events.pop();
        }
        push(events, raw, Access::Lookup, path);
    }
}

/// Reads that have no event.
///
/// SquashFS caches a page beyond the end of a file with its last block, and a read that asks for
/// that page too, as programs with large buffers do, ends without the kernel's event for it
/// (seen in Linux 6.18). Only that the pages came into the cache is then told. Read-ahead brings
/// pages in as well; so this is believed only of the last pages of a file, which such a read is
/// about, of blocks of which no read was told, and of files that were never mapped: around a page
/// fault the kernel reads far ahead.
struct SilentReads {
    mapped: HashSet<u64>,
    /// First and last block of each read that was told, by inode.
    told: HashMap<u64, Vec<(u64, u64)>>,
    block_pages: u64,
}

impl SilentReads {
    fn new(events: &[RawEvent], block_size: BlockSize) -> Self {
        let mut silent = Self {
            mapped: HashSet::new(),
            told: HashMap::new(),
            block_pages: u64::from(block_size.bytes()) / PAGE_SIZE_BYTES,
        };
        for event in events {
            match event.kind {
                RawKind::Fault { inode, .. } | RawKind::Map { inode, .. } => {
                    silent.mapped.insert(inode);
                }
                RawKind::Read {
                    inode,
                    first_page,
                    last_page,
                } => {
                    let blocks = silent.blocks((first_page, last_page));
                    let told = silent.told.entry(inode).or_default();
                    if told.last() != Some(&blocks) {
                        told.push(blocks);
                    }
                }
                RawKind::Cache { .. }
                | RawKind::DeviceRead { .. }
                | RawKind::DeviceDone { .. }
                | RawKind::UserFault { .. } => {}
            }
        }
        silent
    }

    fn blocks(&self, (first_page, last_page): (u64, u64)) -> (u64, u64) {
        (first_page / self.block_pages, last_page / self.block_pages)
    }

    /// Which of the pages that came into the cache were read without an event.
    fn pages(
        &self,
        inode: u64,
        (first_page, last_page): (u64, u64),
        size_bytes: u64,
    ) -> Option<(u64, u64)> {
        let end_page = size_bytes.div_ceil(PAGE_SIZE_BYTES);
        let first_page = first_page.max(end_page.saturating_sub(BATCH_PAGES));
        let last_page = last_page.min(end_page.checked_sub(1)?);
        if first_page > last_page || self.mapped.contains(&inode) {
            return None;
        }
        let (first, last) = self.blocks((first_page, last_page));
        let mut told = self.told.get(&inode).into_iter().flatten();
        let is_told = told.any(|&(told_first, told_last)| told_first <= last && first <= told_last);
        (!is_told).then_some((first_page, last_page))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = PAGE_SIZE_BYTES;

    fn raw(kind: RawKind) -> RawEvent {
        RawEvent {
            time_us: 0,
            pid: 1,
            kind,
        }
    }

    #[test]
    fn pages_that_came_into_the_cache_were_read_if_nothing_else_explains_them() {
        let told = [
            RawKind::Read {
                inode: 1,
                first_page: 0,
                last_page: 1,
            },
            RawKind::Map {
                inode: 2,
                first_page: 0,
                last_page: 0,
            },
            RawKind::Fault { inode: 3, page: 0 },
        ];
        let block_size = BlockSize::new(16_384).unwrap();
        let silent = SilentReads::new(&told.map(raw), block_size);
        for (what, inode, pages, size_bytes, expected) in [
            ("never told", 9, (0, 0), 6, Some((0, 0))),
            ("beyond the end", 9, (0, 3), PAGE, Some((0, 0))),
            ("all beyond the end", 9, (1, 1), PAGE, None),
            ("empty or no file", 9, (0, 0), 0, None),
            ("far before the end", 9, (0, 0), 32 * PAGE, None),
            ("near the end", 9, (1, 1), 32 * PAGE, Some((1, 1))),
            ("block of a told read", 1, (2, 3), 6 * PAGE, None),
            ("block after it", 1, (4, 5), 6 * PAGE, Some((4, 5))),
            ("mapped", 2, (4, 5), 6 * PAGE, None),
            ("faulted on", 3, (4, 5), 6 * PAGE, None),
        ] {
            assert_eq!(silent.pages(inode, pages, size_bytes), expected, "{what}");
        }
    }

    #[test]
    fn listings_are_told_again_unless_a_lookup_says_what_was_searched() {
        let mut events = Vec::new();
        let mut metadata = Metadata::default();
        let event = raw(RawKind::Fault { inode: 1, page: 0 });
        for path in [
            "/", "/a/", "/", "/", "/b", "/", "/a/", "/c", "/a/", "/a/d", "/a/d", "/",
        ] {
            match path.strip_suffix('/') {
                Some("") => metadata.list(&mut events, &event, b"/"),
                Some(listed) => metadata.list(&mut events, &event, listed.as_bytes()),
                None => metadata.look_up(&mut events, &event, path.as_bytes()),
            }
        }
        let told: Vec<_> = events
            .iter()
            .map(|event| (event.access, std::str::from_utf8(&event.path).unwrap()))
            .collect();
        let (list, lookup) = (Access::List, Access::Lookup);
        let expected = [
            (list, "/"),
            (list, "/a"),
            (lookup, "/b"),
            (list, "/"),
            (list, "/a"),
            (lookup, "/c"),
            (lookup, "/a/d"),
            (list, "/"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn pages_read_in_turn_become_one_event() {
        let mut events = Vec::new();
        let event = raw(RawKind::Fault { inode: 1, page: 0 });
        for (access, path) in [
            (read(0, 0), b"/a"),
            (read(1, 4), b"/a"),
            (read(4, 5), b"/a"),
            (read(6, 6), b"/b"),
            (Access::Lookup, b"/b"),
            (read(7, 7), b"/b"),
        ] {
            push(&mut events, &event, access, path);
        }
        let accesses: Vec<_> = events.iter().map(|event| event.access).collect();
        let lookup = Access::Lookup;
        assert_eq!(
            accesses,
            [read(0, 4), read(4, 5), read(6, 6), lookup, read(7, 7)]
        );
    }
}
