//! What a start accesses, seen from the requests of the kernel.
//!
//! The kernel keeps names, inodes and pages, so only the first access to each is a request: the
//! requests are the trace. For that, the server keeps the kernel from asking for more than a
//! program needs: no read-ahead, no metadata of names that are only listed.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::mem;
use std::sync::Mutex;
use std::time::Instant;

use coldpress_image::{Error, Image, MetadataMap};
use coldpress_trace::{Access, Coverage, Event, PAGE_SIZE_BYTES, SEARCHES_IN_VAIN_MAX};

use crate::cache::lock;

/// The most events that are kept, some 200 MiB with their paths: a start of a whole system has a
/// tenth.
const EVENTS_MAX: usize = 2_000_000;

/// Keeps the first accesses to an image.
pub struct Recorder {
    map: MetadataMap,
    began: Instant,
    state: Mutex<State>,
    events_max: usize,
}

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// First accesses in their order.
    pub events: Vec<Event>,
    /// Events that were not kept because there were too many, or whose file was not found.
    pub lost: u64,
}

#[derive(Default)]
struct State {
    recorded: Recorded,
    looked_up: HashSet<u32>,
    listed: HashSet<u32>,
    searches_in_vain: u64,
    pages: HashMap<u32, Coverage>,
}

impl Recorder {
    /// A recorder for an image; times count from now.
    ///
    /// # Errors
    ///
    /// Those of [`MetadataMap::new`].
    ///
    /// # Cost
    ///
    /// Reads all metadata of the image, and holds one path for each inode.
    pub fn new(image: &Image) -> Result<Self, Error> {
        Ok(Self {
            map: MetadataMap::new(image)?,
            began: Instant::now(),
            state: Mutex::default(),
            events_max: EVENTS_MAX,
        })
    }

    /// The inode was needed.
    ///
    /// * `number`: of the inode, as the image gives it.
    pub fn looked_up(&self, pid: u32, number: u32) {
        let mut state = lock(&self.state);
        if state.looked_up.insert(number) {
            self.push(&mut state, pid, number, Access::Lookup);
        }
    }

    /// A name was searched in the directory, or its names were read.
    pub fn listed(&self, pid: u32, number: u32) {
        let mut state = lock(&self.state);
        if state.listed.insert(number) {
            self.push(&mut state, pid, number, Access::List);
        }
    }

    /// A name was searched in the directory that it does not have. The kernel keeps such names, so
    /// each is another one, for which a listing is read again that is no longer in memory.
    pub fn searched_in_vain(&self, pid: u32, number: u32) {
        let mut state = lock(&self.state);
        let path = self.map.path_of_inode(number).unwrap_or_default();
        let before = state.recorded.events.last();
        let is_under_way = before.is_some_and(|before| before.is_list_of(pid, path));
        if !is_under_way && state.searches_in_vain < SEARCHES_IN_VAIN_MAX {
            state.searches_in_vain += 1;
            self.push(&mut state, pid, number, Access::List);
        }
    }

    /// Bytes of a file were needed.
    ///
    /// * `len_bytes`: how many of them the file has.
    pub fn read(&self, pid: u32, number: u32, offset: u64, len_bytes: u64) {
        let Some(last_byte) = len_bytes.checked_sub(1) else {
            return;
        };
        let first_page = offset / PAGE_SIZE_BYTES;
        let last_page = offset.saturating_add(last_byte) / PAGE_SIZE_BYTES;
        let mut state = lock(&self.state);
        let mut runs = Vec::new();
        let pages = state.pages.entry(number).or_default();
        pages.cover(first_page, last_page, |first_page, last_page| {
            runs.push(Access::Read {
                first_page,
                last_page,
            });
        });
        for access in runs {
            self.push(&mut state, pid, number, access);
        }
    }

    /// Hands over what was recorded; what comes later is not kept.
    pub fn finish(&self) -> Recorded {
        let mut state = lock(&self.state);
        mem::take(&mut state.recorded)
    }

    fn push(&self, state: &mut State, pid: u32, number: u32, access: Access) {
        let recorded = &mut state.recorded;
        let Some(path) = self.map.path_of_inode(number) else {
            recorded.lost += 1;
            return;
        };
        if let Some(before) = recorded.events.last_mut()
            && goes_on(before, pid, path, access)
        {
            extend(before, access);
        } else if recorded.events.len() >= self.events_max {
            recorded.lost += 1;
        } else {
            let time_us = self.began.elapsed().as_micros();
            recorded.events.push(Event {
                time_us: u64::try_from(time_us).unwrap_or(u64::MAX),
                pid,
                access,
                path: path.to_vec(),
            });
        }
    }
}

/// Whether a read goes on where the one before ended: the kernel asks for each page by itself.
fn goes_on(before: &Event, pid: u32, path: &[u8], access: Access) -> bool {
    let (Access::Read { last_page, .. }, Access::Read { first_page, .. }) = (before.access, access)
    else {
        return false;
    };
    last_page.checked_add(1) == Some(first_page) && before.pid == pid && before.path == path
}

fn extend(before: &mut Event, access: Access) {
    if let (Access::Read { last_page, .. }, Access::Read { last_page: end, .. }) =
        (&mut before.access, access)
    {
        *last_page = end;
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = lock(&self.state).recorded.events.len();
        formatter
            .debug_struct("Recorder")
            .field("events", &events)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the sample: the root, `/dir`, `/dir/file`.
    const ROOT: u32 = 1;
    const DIR: u32 = 2;
    const FILE: u32 = 3;

    fn recorder() -> Recorder {
        let image = coldpress_nasty::image(false).bytes;
        Recorder::new(&Image::new(Box::new(image)).unwrap()).unwrap()
    }

    fn accesses(recorder: &Recorder) -> Vec<(u32, Access, String)> {
        let events = recorder.finish().events;
        let path = |event: &Event| event.path.escape_ascii().to_string();
        let access = |event: Event| (event.pid, event.access, path(&event));
        events.into_iter().map(access).collect()
    }

    fn read(first_page: u64, last_page: u64) -> Access {
        Access::Read {
            first_page,
            last_page,
        }
    }

    #[test]
    fn first_accesses_are_kept_and_reads_that_go_on_are_one() {
        let recorder = recorder();
        for _ in 0..2 {
            recorder.listed(7, ROOT);
            recorder.looked_up(7, DIR);
            recorder.listed(7, DIR);
            recorder.looked_up(7, FILE);
            recorder.read(7, FILE, 4096, 10);
            recorder.read(7, FILE, 8192, 4096);
            recorder.read(8, FILE, 12_288, 1);
            recorder.read(8, FILE, 0, 8192);
            recorder.read(8, FILE, 40_960, 0);
        }
        let expected = [
            (7, Access::List, "/"),
            (7, Access::Lookup, "/dir"),
            (7, Access::List, "/dir"),
            (7, Access::Lookup, "/dir/file"),
            (7, read(1, 2), "/dir/file"),
            (8, read(3, 3), "/dir/file"),
            (8, read(0, 0), "/dir/file"),
        ];
        let expected = expected.map(|(pid, access, path)| (pid, access, path.to_owned()));
        assert_eq!(accesses(&recorder), expected);
        // Handed over once.
        assert_eq!(recorder.finish(), Recorded::default());
    }

    #[test]
    fn names_searched_in_vain_are_told_again_where_something_else_came_between() {
        let recorder = recorder();
        recorder.listed(7, DIR);
        recorder.searched_in_vain(7, DIR);
        recorder.looked_up(7, FILE);
        recorder.searched_in_vain(7, DIR);
        recorder.searched_in_vain(7, DIR);
        recorder.searched_in_vain(8, DIR);
        let told: Vec<_> = accesses(&recorder)
            .into_iter()
            .map(|told| (told.0, told.1))
            .collect();
        let (list, lookup) = (Access::List, Access::Lookup);
        assert_eq!(told, [(7, list), (7, lookup), (7, list), (8, list)]);
    }

    #[test]
    fn what_is_too_much_or_not_of_the_image_is_counted() {
        let mut recorder = recorder();
        recorder.events_max = 2;
        recorder.looked_up(1, DIR);
        recorder.looked_up(1, 99);
        recorder.read(1, FILE, 0, 1);
        // Goes on: no event more.
        recorder.read(1, FILE, 4096, 1);
        recorder.read(1, FILE, 40_960, 1);
        recorder.looked_up(1, FILE);
        let Recorded { events, lost } = recorder.finish();
        let accesses: Vec<_> = events.iter().map(|event| event.access).collect();
        assert_eq!(accesses, [Access::Lookup, read(0, 1)]);
        assert_eq!(lost, 3);
    }
}
