//! What was opened and looked up, each entry once.

use std::collections::HashSet;
use std::time::Instant;

use coldpress_trace::{Access, Event};

use super::directory_index::{DirectoryIndex, Identity};
use crate::Error;

/// What was recorded.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Opens {
    /// First accesses, ordered by time: lookups, listings, and of files that were opened to be read
    /// all pages, as perhaps used; the first page of a program is surely used.
    pub events: Vec<Event>,
    /// Calls whose path could not be read, so that what they named is not known.
    pub lost_events: u64,
}

/// What is known of the recorded directory.
#[derive(Debug)]
pub(super) struct Notes {
    pub(super) index: DirectoryIndex,
    started: Option<Instant>,
    noted: HashSet<(Kind, usize)>,
    opens: Opens,
    failure: Option<Error>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Lookup,
    List,
    Open,
    Run,
}

/// A thread, at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) thread: u32,
    pub(super) at: Instant,
}

impl Notes {
    pub(super) fn new(index: DirectoryIndex) -> Self {
        Self {
            index,
            started: None,
            noted: HashSet::new(),
            opens: Opens::default(),
            failure: None,
        }
    }

    /// From here on calls are noted.
    ///
    /// * `needed`: paths without which the program would not be started.
    pub(super) fn begin(&mut self, needed: &[&str]) {
        let at = Instant::now();
        self.started = Some(at);
        let thread = std::process::id();
        for path in needed.iter().map(|path| path.as_bytes()) {
            let is_end = |end: &usize| path.get(*end).is_none_or(|byte| *byte == b'/');
            let above = (1..=path.len()).filter(is_end);
            let steps = above.map(|end| self.index.identity_of(path.get(..end)?));
            // Nothing of a path is needed that leads nowhere.
            let steps: Option<Vec<_>> = steps.collect();
            for identity in steps.into_iter().flatten() {
                self.look(Moment { thread, at }, identity);
            }
        }
    }

    /// Hands over what was noted; nothing is noted any more.
    pub(super) fn end(&mut self) -> Result<Opens, Error> {
        self.started = None;
        match self.failure.take() {
            Some(error) => Err(error),
            None => Ok(std::mem::take(&mut self.opens)),
        }
    }

    pub(super) fn is_noting(&self) -> bool {
        self.started.is_some()
    }

    /// The recording is worth nothing for this reason.
    pub(super) fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    pub(super) fn lose(&mut self) {
        if self.is_noting() {
            self.opens.lost_events += 1;
        }
    }

    /// A entry was looked up. The directory itself is where an image would be mounted: nobody looks
    /// for it there.
    pub(super) fn look(&mut self, moment: Moment, identity: Identity) {
        if self.index.root() != Some(identity) {
            self.note(moment, Kind::Lookup, identity, |_| Some(Access::Lookup));
        }
    }

    /// A name was searched in a directory, or it was listed.
    pub(super) fn list(&mut self, moment: Moment, identity: Identity) {
        self.note(moment, Kind::List, identity, |_| Some(Access::List));
    }

    /// A file was opened to be read.
    pub(super) fn open(&mut self, moment: Moment, identity: Identity) {
        let all = |last_page| Access::Map {
            first_page: 0,
            last_page,
        };
        self.note(moment, Kind::Open, identity, |last_page| last_page.map(all));
    }

    /// A file was executed: the kernel reads its beginning, to know how.
    pub(super) fn run(&mut self, moment: Moment, identity: Identity) {
        let first = Access::Read {
            first_page: 0,
            last_page: 0,
        };
        self.note(moment, Kind::Run, identity, |last_page| {
            last_page.map(|_| first)
        });
        self.open(moment, identity);
    }

    /// * `access`: from the last page of the file, if it is one with content.
    fn note(
        &mut self,
        moment: Moment,
        kind: Kind,
        identity: Identity,
        access: impl FnOnce(Option<u64>) -> Option<Access>,
    ) {
        let Some(started) = self.started else { return };
        let Some(place) = self.index.find(identity) else {
            return;
        };
        if !self.noted.insert((kind, place)) {
            return;
        }
        let Some(entry) = self.index.entry(place) else {
            return;
        };
        let Some(access) = access(entry.last_page) else {
            return;
        };
        let since = moment.at.saturating_duration_since(started);
        self.opens.events.push(Event {
            time_us: u64::try_from(since.as_micros()).unwrap_or(u64::MAX),
            pid: moment.thread,
            access,
            path: entry.path.to_vec(),
        });
    }
}
