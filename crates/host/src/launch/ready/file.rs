//! A file that appears.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
use rustix::fs::{FileType, fstat};

use super::place::Place;
use crate::Error;

/// Room for some events; what they say is looked up again anyway.
const EVENTS_BYTES: usize = 4096;

/// A file, and what stood in its place before.
#[derive(Debug)]
pub(in crate::launch) struct FileWatch {
    place: Place,
    inotify: OwnedFd,
    before: Option<Identity>,
}

/// A file as it is at the moment: device, inode, and when it last changed.
type Identity = (u64, u64, i64, u64);

impl FileWatch {
    pub(super) fn begin(place: Place) -> Result<Self, Error> {
        let inotify = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC);
        let inotify = inotify.map_err(|errno| Error::System {
            action: "watch a directory (inotify)",
            source: errno.into(),
        })?;
        let before = identity(&place);
        let watch = Self {
            place,
            inotify,
            before,
        };
        watch.add_parent();
        Ok(watch)
    }

    pub(super) fn follow(&mut self, pid: u32) {
        self.place.follow(pid);
        self.add_parent();
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }

    /// Whether it is there, and not what was there before.
    pub(super) fn came_true(&self) -> bool {
        let mut events = [0; EVENTS_BYTES];
        while rustix::io::read(&self.inotify, &mut events).is_ok_and(|len| len > 0) {}
        if self.is_new() {
            return true;
        }
        // A directory above it may just have been made, and the file in it before it was watched.
        self.add_parent();
        self.is_new()
    }

    fn is_new(&self) -> bool {
        let now = identity(&self.place);
        now.is_some() && now != self.before
    }

    /// Watches the nearest directory that there is; the same one again is no harm. What cannot be
    /// watched is looked at from time to time.
    fn add_parent(&self) {
        let add = || -> io::Result<()> {
            let parent = self.place.open_parent()?;
            let path = format!("/proc/self/fd/{}", parent.as_raw_fd());
            let flags = WatchFlags::CREATE
                | WatchFlags::MOVED_TO
                | WatchFlags::ATTRIB
                | WatchFlags::MODIFY
                | WatchFlags::CLOSE_WRITE;
            add_watch(&self.inotify, path, flags)?;
            Ok(())
        };
        let _ = add();
    }
}

/// `None` if nothing stands there. A directory changes with what is put into it: which one it is
/// tells enough.
fn identity(place: &Place) -> Option<Identity> {
    let found = fstat(place.open().ok()?).ok()?;
    let is_directory = FileType::from_raw_mode(found.st_mode).is_dir();
    let changed = if is_directory {
        (0, 0)
    } else {
        (found.st_ctime, found.st_ctime_nsec)
    };
    Some((found.st_dev, found.st_ino, changed.0, changed.1))
}
