//! The directory that is extracted into, and the directories below it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::beneath::open_beneath;
use crate::error::Error;
use crate::slots::Slots;
use crate::walk::push_name;

/// Open directories kept, few enough for the usual limit of 1024.
const DIRECTORY_SLOTS: usize = 128;
/// Levels above a directory that are kept when it is opened: its neighbors need them next.
const KEPT_LEVELS: usize = 32;
/// `openat2` takes less than `PATH_MAX` at once, and a path in an image may be longer.
const PATH_PIECE_BYTES: usize = 3500;
/// A directory below the destination.
struct Node {
    parent: usize,
    name: Box<[u8]>,
    /// Whether it was there: its metadata is the caller's and stays, and what is in it may be
    /// replaced. In a directory of our own, something in the way is of our own too: a name that the
    /// file system does not tell from another.
    was_there: bool,
}

/// The destination and its directories, which are known by index; 0 is the destination itself.
pub(super) struct Destination {
    path: PathBuf,
    root: Arc<OwnedFd>,
    overwrite: bool,
    nodes: Vec<Node>,
    open: Slots<OwnedFd>,
}

impl Destination {
    /// Opens the destination, which is created if it is missing.
    pub(super) fn open(path: &Path, overwrite: bool) -> Result<Self, Error> {
        let fail = |action, error: io::Error| Error::Write {
            action,
            path: path.as_os_str().as_encoded_bytes().to_vec(),
            source: error,
        };
        fs::create_dir_all(path).map_err(|error| fail("create the directory", error))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(|error| {
            let action = "extract into (it must be a directory and not a symbolic link)";
            fail(action, error.into())
        })?;
        let empty = is_empty(root.as_fd()).map_err(|error| fail("list", error.into()))?;
        if !empty && !overwrite {
            let path = path.to_path_buf();
            return Err(Error::NotEmpty { path });
        }
        let node = Node {
            parent: 0,
            name: Box::default(),
            was_there: !empty,
        };
        Ok(Self {
            path: path.to_path_buf(),
            root: Arc::new(root),
            overwrite,
            nodes: vec![node],
            open: Slots::new(DIRECTORY_SLOTS),
        })
    }

    /// The path in the image of `name` in a directory, or with an empty name that of the directory.
    pub(super) fn image_path(&self, directory: usize, name: &[u8]) -> Vec<u8> {
        let mut path = Vec::new();
        for index in self.chain(directory, |_| false).into_iter().rev() {
            push_name(&mut path, self.name(index));
        }
        if !name.is_empty() || path.is_empty() {
            push_name(&mut path, name);
        }
        path
    }

    /// The path as the caller sees it, with that of the destination.
    pub(super) fn path(&self, directory: usize, name: &[u8]) -> Vec<u8> {
        let mut path = self.path.as_os_str().as_encoded_bytes().to_vec();
        if directory != 0 || !name.is_empty() {
            path.extend(self.image_path(directory, name));
        }
        path
    }

    /// An error about `name` in a directory.
    pub(super) fn error(
        &self,
        action: &'static str,
        directory: usize,
        name: &[u8],
        source: impl Into<io::Error>,
    ) -> Error {
        Error::Write {
            action,
            path: self.path(directory, name),
            source: source.into(),
        }
    }

    /// Whether a directory was there before, so that its metadata stays.
    pub(super) fn was_there(&self, directory: usize) -> bool {
        let node = self.nodes.get(directory);
        node.is_some_and(|node| node.was_there)
    }

    fn name(&self, directory: usize) -> &[u8] {
        self.nodes.get(directory).map_or(&[], |node| &node.name)
    }

    /// The directories from `directory` upwards to the first for which `stop` holds, or to the
    /// destination; that one is not among them.
    fn chain(&self, directory: usize, mut stop: impl FnMut(usize) -> bool) -> Vec<usize> {
        let (mut chain, mut index) = (Vec::new(), directory);
        while index != 0 && !stop(index) {
            chain.push(index);
            index = self.nodes.get(index).map_or(0, |node| node.parent);
        }
        chain
    }

    /// Opens a directory, going down from the nearest one that is still open.
    pub(super) fn directory(&self, directory: usize) -> Result<Arc<OwnedFd>, Error> {
        let mut opened = Arc::clone(&self.root);
        let chain = self.chain(directory, |index| {
            let kept = self.open.get(index as u64);
            kept.is_some_and(|kept| {
                opened = kept;
                true
            })
        });
        let mut piece = Vec::new();
        for (left, index) in chain.into_iter().enumerate().rev() {
            if !piece.is_empty() {
                piece.push(b'/');
            }
            piece.extend_from_slice(self.name(index));
            if left < KEPT_LEVELS || piece.len() > PATH_PIECE_BYTES {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                let next = open(opened.as_fd(), &piece, flags, Mode::empty());
                let next =
                    next.map_err(|error| self.error("open the directory", index, b"", error))?;
                opened = self.open.put(index as u64, next);
                piece.clear();
            }
        }
        Ok(opened)
    }

    /// Creates a directory, and returns its index.
    pub(super) fn create_directory(&mut self, parent: usize, name: &[u8]) -> Result<usize, Error> {
        let parent_fd = self.directory(parent)?;
        let make = || rustix::fs::mkdirat(&parent_fd, name, Mode::RWXU);
        let is_directory = || {
            let found = rustix::fs::statat(&parent_fd, name, AtFlags::SYMLINK_NOFOLLOW);
            found.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
        };
        let result = make();
        let was_there = result == Err(Errno::EXIST) && self.may_replace(parent) && is_directory();
        match result {
            _ if was_there => Ok(()),
            Err(Errno::EXIST) => self.replace((parent, parent_fd.as_fd()), name, &make),
            result => result,
        }
        .map_err(|error| self.error("create the directory", parent, name, error))?;
        self.nodes.push(Node {
            parent,
            name: name.into(),
            was_there,
        });
        Ok(self.nodes.len() - 1)
    }

    /// Whether something in the way in a directory may give way.
    fn may_replace(&self, directory: usize) -> bool {
        self.overwrite && self.was_there(directory)
    }

    /// Makes something new under `name`; what is there and no directory is removed before, if the
    /// caller allowed it.
    pub(super) fn replace<T>(
        &self,
        (directory, opened): (usize, BorrowedFd),
        name: &[u8],
        make: &dyn Fn() -> rustix::io::Result<T>,
    ) -> rustix::io::Result<T> {
        match make() {
            Err(Errno::EXIST) if self.may_replace(directory) => {
                rustix::fs::unlinkat(opened, name, AtFlags::empty())?;
                make()
            }
            result => result,
        }
    }

    /// Creates a regular file and opens it for writing.
    pub(super) fn create_file(
        &self,
        directory: usize,
        name: &[u8],
        mode: Mode,
    ) -> Result<fs::File, Error> {
        let parent = self.directory(directory)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let make = || open(parent.as_fd(), name, flags, mode);
        let created = self.replace((directory, parent.as_fd()), name, &make);
        Ok(created
            .map_err(|error| self.error("create", directory, name, error))?
            .into())
    }

    /// Removes a file that could not be finished. If that fails too, the error that is on its way
    /// to the caller says more.
    pub(super) fn discard_file(&self, directory: usize, name: &[u8]) {
        if let Ok(parent) = self.directory(directory) {
            let _ = rustix::fs::unlinkat(parent, name, AtFlags::empty());
        }
    }

    /// Opens a file that was created before.
    pub(super) fn reopen_file(&self, directory: usize, name: &[u8]) -> Result<fs::File, Error> {
        let parent = self.directory(directory)?;
        let opened = open(parent.as_fd(), name, OFlags::WRONLY, Mode::empty());
        Ok(opened
            .map_err(|error| self.error("open", directory, name, error))?
            .into())
    }
}

/// Opens a path beneath a directory.
pub(super) fn open(
    directory: BorrowedFd,
    path: &[u8],
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    open_beneath(directory, Path::new(OsStr::from_bytes(path)), flags, mode)
}

fn is_empty(directory: BorrowedFd) -> rustix::io::Result<bool> {
    for entry in Dir::read_from(directory)? {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A file system that does not tell two names apart finds the first in the way of the second.
    #[test]
    fn in_a_directory_of_our_own_what_was_first_stays() {
        let temporary = tempfile::tempdir().unwrap();
        for (name, overwrite) in [("new", false), ("forced", true)] {
            let path = temporary.path().join(name);
            let mut destination = Destination::open(&path, overwrite).unwrap();
            let directory = destination.create_directory(0, b"directory").unwrap();
            let mode = Mode::RUSR;
            let mut file = destination.create_file(directory, b"name", mode).unwrap();
            file.write_all(b"first").unwrap();
            let error = destination.create_file(directory, b"name", mode);
            let sentence = error.unwrap_err().to_string();
            assert!(
                sentence.contains(&format!("{name}/directory/name")),
                "{sentence}"
            );
            assert!(destination.create_directory(directory, b"name").is_err());
            assert!(destination.create_directory(0, b"directory").is_err());
            assert_eq!(fs::read(path.join("directory/name")).unwrap(), b"first");
        }
    }
}
