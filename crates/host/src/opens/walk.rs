//! A path, walked as the program sees it, with notes of all that is met.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, fstatfs, openat, readlinkat};

use super::directory_index::Identity;
use super::notes::{Moment, Notes};

/// Links that the kernel follows in one path.
const LINKS_MAX: usize = 40;
/// Names of a path with all its links: the kernel takes paths of 4096 bytes and links of as many.
const NAMES_MAX: usize = 4096;

/// `PROC_SUPER_MAGIC`: the kind of the file system of `/proc`.
const PROC_MAGIC: u64 = 0x9fa0;

/// Where a path begins, opened while the program waited.
#[derive(Debug)]
pub(super) struct Start {
    /// The root directory of the program.
    pub(super) root: OwnedFd,
    /// Of a relative path: the directory that it is relative to.
    pub(super) directory: Option<OwnedFd>,
}

/// What stands at the end of a path.
#[derive(Debug)]
pub(super) struct End {
    pub(super) file: OwnedFd,
    pub(super) identity: Identity,
    pub(super) file_type: FileType,
}

/// Opens without reading or executing anything; a link itself.
const FLAGS: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Walks a path, and notes each directory that is searched and each entry that is found on the way.
///
/// * `is_followed`: whether a link at its end is followed.
///
/// Returns nothing if there is nothing, or if the path leads through `/proc`, where each process
/// sees other links.
pub(super) fn walk(
    start: &Start,
    path: &[u8],
    is_followed: bool,
    moment: Moment,
    notes: &mut Notes,
) -> Option<End> {
    let root = End::of(start.root.as_fd())?.identity;
    // A slash at the end stands behind a directory, not behind a link to one.
    let is_followed = is_followed || path.ends_with(b"/");
    let mut here = End::of(match &start.directory {
        Some(directory) if !path.starts_with(b"/") => directory.as_fd(),
        _ => start.root.as_fd(),
    })?;
    let mut names = VecDeque::new();
    push(&mut names, path)?;
    let mut links = 0;
    while let Some(name) = names.pop_front() {
        let is_proc = here.identity.device != root.device && is_proc(&here.file);
        if here.file_type != FileType::Directory || is_proc {
            return None;
        }
        let is_up = name == b"..";
        if is_up && here.identity == root {
            continue;
        }
        if !is_up {
            notes.list(moment, here.identity);
        }
        let name = OsStr::from_bytes(&name);
        let found = End::new(openat(&here.file, name, FLAGS, Mode::empty()).ok()?)?;
        if !is_up {
            notes.look(moment, found.identity);
        }
        let is_last = names.is_empty();
        if found.file_type != FileType::Symlink || (is_last && !is_followed) {
            here = found;
            continue;
        }
        links += 1;
        if links > LINKS_MAX {
            return None;
        }
        let target = readlinkat(&found.file, "", Vec::new()).ok()?.into_bytes();
        if target.starts_with(b"/") {
            here = End::of(start.root.as_fd())?;
        }
        push(&mut names, &target)?;
    }
    Some(here)
}

/// Puts the names of a path before those that are left of another.
fn push(names: &mut VecDeque<Vec<u8>>, path: &[u8]) -> Option<()> {
    let is_name = |name: &&[u8]| !name.is_empty() && *name != b".";
    for name in path.split(|byte| *byte == b'/').rev().filter(is_name) {
        names.push_front(name.to_vec());
    }
    (names.len() <= NAMES_MAX).then_some(())
}

/// In its links a process that looks finds itself, not the one that is recorded.
fn is_proc(file: &OwnedFd) -> bool {
    fstatfs(file).is_ok_and(|found| u64::try_from(found.f_type) == Ok(PROC_MAGIC))
}

impl End {
    fn new(file: OwnedFd) -> Option<Self> {
        let stat = fstat(&file).ok()?;
        Some(Self {
            file_type: FileType::from_raw_mode(stat.st_mode),
            identity: stat.into(),
            file,
        })
    }

    fn of(file: BorrowedFd<'_>) -> Option<Self> {
        Self::new(file.try_clone_to_owned().ok()?)
    }
}

/// Opens a place of `/proc/THREAD` for what it stands for.
pub(super) fn open_of(thread: u32, name: &str) -> Option<OwnedFd> {
    let path = format!("/proc/{thread}/{name}");
    openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()
}

#[cfg(test)]
mod tests;
