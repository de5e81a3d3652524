//! One call and what it does: to the process, and to files.

use std::cell::RefCell;
use std::rc::Rc;

use super::arguments::{Call, Descriptor, Place, number, string};
use super::lookups::Lookup;
use super::outcome::{Found, Outcome, found_despite};
use super::processes::{OpenFile, Process};
use crate::event::Access;
use crate::import::imported::Seen;
use crate::import::notes::{LONG, Notes, map, read};
use crate::import::paths::{PATH_BYTES_MAX, join};
use crate::import::text::{find, split_once};
use crate::working_set::parent;

/// A call that has returned, and who made it.
pub(super) struct Act<'a, 'notes> {
    /// The time at which it began, and the process.
    pub(super) when: (u64, u32),
    pub(super) process: Process,
    pub(super) call: &'a Call<'a>,
    pub(super) line: &'a [u8],
    pub(super) notes: &'notes mut Notes,
}

/// What the path of a call is.
enum Target {
    Path(Vec<u8>),
    /// There is none: an empty one, a null pointer.
    Nothing,
    /// It is relative to a directory that is not known.
    Unknown,
    /// It is longer than any that the kernel takes.
    Long,
}

type Shared = Rc<RefCell<OpenFile>>;

impl Act<'_, '_> {
    pub(super) fn look_up(&mut self, lookup: &Lookup) {
        let follows = lookup.follows && find(self.call.text, b"NOFOLLOW").is_none();
        let seen = if follows {
            Seen::Access(Access::Lookup)
        } else {
            Seen::Link
        };
        if let Some(path) = self.path(lookup.directory, lookup.path) {
            self.see_if_there(seen, &path);
        }
    }

    pub(super) fn execute(&mut self, directory: Option<usize>, at: usize) {
        if let Some(path) = self.path(directory, at) {
            self.see_if_there(Seen::File { size_bytes: None }, &path);
        }
    }

    /// The path that was asked for may lead to another one, which `-y` tells.
    pub(super) fn open(&mut self, directory: Option<usize>, at: usize) {
        let lookup = Seen::Access(Access::Lookup);
        let Outcome::Value(_, Some(Place::Path(opened))) = &self.call.outcome else {
            if let Some(path) = self.path(directory, at) {
                self.see_if_there(lookup, &path);
                self.insert(&path);
            }
            return;
        };
        if let Target::Path(path) = self.target(directory, at)
            && path != *opened
        {
            self.see(lookup, &path);
        }
        self.see(lookup, opened);
        self.insert(opened);
    }

    /// Puts what was opened among the open files.
    fn insert(&mut self, path: &[u8]) {
        if let Some(descriptor) = self.call.outcome.small() {
            let file = self.new_file(path, Some(0));
            self.process.files.borrow_mut().insert(descriptor, file);
        }
    }

    pub(super) fn read_on(&mut self, at: usize) {
        let Some(len_bytes) = self.count() else {
            return;
        };
        if let Some(file) = self.file(at) {
            let mut file = file.borrow_mut();
            match file.position {
                Some(position) => {
                    let bytes = (position, len_bytes);
                    self.notes.see_bytes(self.when, bytes, read, &file.path);
                    file.position = Some(position.saturating_add(len_bytes));
                }
                None => self.see(Seen::File { size_bytes: None }, &file.path),
            }
        }
    }

    pub(super) fn read_at(&mut self, at: usize, offset_at: usize) {
        let offset = number(self.call.argument(offset_at));
        self.read_from(at, offset);
    }

    fn read_from(&mut self, at: usize, offset: Option<u64>) {
        let (Some(len_bytes), Some(offset)) = (self.count(), offset) else {
            return;
        };
        if let Some(file) = self.file(at) {
            let bytes = (offset, len_bytes);
            self.notes
                .see_bytes(self.when, bytes, read, &file.borrow().path);
        }
    }

    /// Reads from the position, or from `[0] => [100]`, where that leads from and to.
    pub(super) fn send(&mut self, at: usize, offset_at: usize) {
        match self.call.argument(offset_at).strip_prefix(b"[") {
            Some(offset) => {
                let offset = split_once(offset, b"]").and_then(|(offset, _)| number(offset));
                self.read_from(at, offset);
            }
            None => self.read_on(at),
        }
    }

    /// `mmap(NULL, 38795, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f5c40109000`.
    pub(super) fn map(&mut self) {
        let [len_bytes, offset] = [1, 5].map(|at| number(self.call.argument(at)));
        let (Some(len_bytes), Some(offset), Some(_)) =
            (len_bytes, offset, self.call.outcome.value())
        else {
            return;
        };
        if let Some(file) = self.file(4) {
            let bytes = (offset, len_bytes);
            self.notes
                .see_bytes(self.when, bytes, map, &file.borrow().path);
        }
    }

    pub(super) fn seek(&mut self) {
        if let (Some(position), Some(file)) = (self.call.outcome.value(), self.file(0)) {
            file.borrow_mut().position = Some(position);
        }
    }

    pub(super) fn list(&mut self) {
        if let (Some(_), Some(file)) = (self.count(), self.file(0)) {
            self.see(Seen::Access(Access::List), &file.borrow().path);
        }
    }

    pub(super) fn close(&mut self) {
        if let Some(descriptor) = Descriptor::parse(self.call.argument(0))
            && let Some(number) = descriptor.number
        {
            self.process.files.borrow_mut().remove(&number);
        }
    }

    pub(super) fn duplicate(&mut self) {
        let Some(number) = self.call.outcome.small() else {
            return;
        };
        let file = self.file(0);
        let mut files = self.process.files.borrow_mut();
        match file {
            Some(file) => files.insert(number, file),
            None => files.remove(&number),
        };
    }

    pub(super) fn change_directory(&mut self) {
        if let Some(path) = self.path(None, 0) {
            self.see_if_there(Seen::Access(Access::Lookup), &path);
            if self.call.outcome.value().is_some() {
                self.process.directories.borrow_mut().current = Some(path);
            }
        }
    }

    pub(super) fn change_to_descriptor(&mut self) {
        if self.call.outcome.value().is_some() {
            let path = self.file(0).map(|file| file.borrow().path.clone());
            self.process.directories.borrow_mut().current = path;
        }
    }

    /// `getcwd("/etc", 4096) = 5`.
    pub(super) fn told_directory(&mut self) {
        if let Some(told) = string(self.call.argument(0)).filter(|path| path.starts_with(b"/")) {
            let mut directories = self.process.directories.borrow_mut();
            let path = join(&directories.root, &told);
            directories.current = Some(path).filter(|path| path.len() <= PATH_BYTES_MAX);
        }
    }

    pub(super) fn change_root(&mut self) {
        if let Some(path) = self.path(None, 0) {
            self.see_if_there(Seen::Access(Access::Lookup), &path);
            if self.call.outcome.value().is_some() {
                self.process.directories.borrow_mut().root = path;
            }
        }
    }

    /// The number that the call gave, if it is above 0.
    fn count(&self) -> Option<u64> {
        self.call.outcome.value().filter(|count| *count > 0)
    }

    fn see(&mut self, seen: Seen, path: &[u8]) {
        let (time_us, pid) = self.when;
        self.notes.see(time_us, pid, seen, path);
    }

    /// Notes what a path was asked for: what was seen if the call did it, that it was looked up if
    /// it was there, and that its directory was searched if it was not.
    fn see_if_there(&mut self, seen: Seen, path: &[u8]) {
        match &self.call.outcome {
            Outcome::Value(..) => self.see(seen, path),
            Outcome::Failed(error) => match found_despite(error) {
                Found::Missing => {
                    let directory = parent(path).unwrap_or(b"/");
                    self.see(Seen::Access(Access::List), directory);
                }
                Found::There => self.see(Seen::Access(Access::Lookup), path),
                Found::Unknown => {}
            },
            Outcome::Unknown => {}
        }
    }

    /// The absolute path that an argument means; `None` if it means none.
    fn path(&mut self, directory: Option<usize>, at: usize) -> Option<Vec<u8>> {
        match self.target(directory, at) {
            Target::Path(path) => Some(path),
            Target::Nothing => None,
            Target::Unknown => {
                let why = "a path relative to an unknown directory; `strace -y` records it";
                self.notes.cannot_read(self.line, why);
                None
            }
            Target::Long => {
                self.notes.cannot_read(self.line, LONG);
                None
            }
        }
    }

    fn target(&mut self, directory: Option<usize>, at: usize) -> Target {
        let Some(told) = string(self.call.argument(at)).filter(|path| !path.is_empty()) else {
            return Target::Nothing;
        };
        // Also of an absolute path: `-y` may tell the current directory here.
        let base = match directory {
            Some(at) => self.base(at),
            None => self.current(None),
        };
        let path = match base {
            _ if told.starts_with(b"/") => join(&self.process.directories.borrow().root, &told),
            Some(base) => join(&base, &told),
            // Shells ask whether they are where `$PWD` says: nobody needs the answer.
            None if told == b"." => return Target::Nothing,
            None => return Target::Unknown,
        };
        if path.len() > PATH_BYTES_MAX {
            return Target::Long;
        }
        Target::Path(path)
    }

    /// The directory that an argument means.
    fn base(&mut self, at: usize) -> Option<Vec<u8>> {
        let descriptor = Descriptor::parse(self.call.argument(at))?;
        match descriptor {
            Descriptor {
                number: None,
                place,
            } => self.current(place),
            _ => Some(self.file(at)?.borrow().path.clone()),
        }
    }

    /// The current directory. What `-y` tells of it counts from here on.
    fn current(&mut self, told: Option<Place>) -> Option<Vec<u8>> {
        let mut directories = self.process.directories.borrow_mut();
        if let Some(Place::Path(path)) = told {
            directories.current = Some(path);
        }
        directories.current.clone()
    }

    /// The open file that an argument means. What `-y` tells of it counts.
    fn file(&mut self, at: usize) -> Option<Shared> {
        let descriptor = Descriptor::parse(self.call.argument(at))?;
        let number = descriptor.number?;
        let known = self.process.files.borrow().get(&number).cloned();
        match descriptor.place {
            None => known,
            Some(Place::Elsewhere) => {
                self.process.files.borrow_mut().remove(&number);
                None
            }
            Some(Place::Path(path)) => {
                if let Some(known) = known.filter(|known| known.borrow().path == path) {
                    return Some(known);
                }
                let file = self.new_file(&path, None);
                let shared = Rc::clone(&file);
                self.process.files.borrow_mut().insert(number, shared);
                Some(file)
            }
        }
    }

    /// A file that is open from now on. Its path is paid from what the text may grow.
    fn new_file(&mut self, path: &[u8], position: Option<u64>) -> Shared {
        let size_bytes = path.len() + size_of::<OpenFile>();
        let path = if self.notes.spend(size_bytes as u64) {
            path.to_vec()
        } else {
            b"/".to_vec()
        };
        Rc::new(RefCell::new(OpenFile { path, position }))
    }
}
