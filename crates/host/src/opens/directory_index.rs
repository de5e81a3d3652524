//! What is in a directory, known by what the kernel knows it by.

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use coldpress_trace::PAGE_SIZE_BYTES;

use crate::Error;

/// Device and inode number, as stat(2) tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// Something in the directory.
#[derive(Debug)]
pub(super) struct Entry {
    identity: Identity,
    /// Below the directory, which is `/`.
    pub(super) path: Box<[u8]>,
    /// Of a file with content: its last page.
    pub(super) last_page: Option<u64>,
}

/// Everything in a directory before the program starts. What the program adds is none of it.
#[derive(Debug)]
pub(super) struct DirectoryIndex {
    entries: Vec<Entry>,
    places: HashMap<Identity, usize>,
}

impl DirectoryIndex {
    /// Looks at everything, in the order of names; a file of several names has the first.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the directory cannot be listed. What cannot be listed below it the program
    /// cannot use either.
    pub(super) fn new(directory: &Path) -> Result<Self, Error> {
        let mut index = Self {
            entries: Vec::new(),
            places: HashMap::new(),
        };
        fs::read_dir(directory).map_err(Error::io("list", directory))?;
        let mut rest = vec![directory.to_owned()];
        while let Some(path) = rest.pop() {
            let Ok(metadata) = fs::symlink_metadata(&path) else {
                continue;
            };
            index.add(directory, &path, &metadata);
            if metadata.is_dir() {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                let mut below: Vec<_> = entries.map(|entry| entry.path()).collect();
                // The last is taken first.
                below.sort_unstable_by(|one, other| other.cmp(one));
                rest.extend(below);
            }
        }
        Ok(index)
    }

    fn add(&mut self, directory: &Path, path: &Path, metadata: &fs::Metadata) {
        let below = path.strip_prefix(directory).unwrap_or(path);
        let path = [b"/", below.as_os_str().as_bytes()].concat();
        let pages = metadata.len().div_ceil(PAGE_SIZE_BYTES);
        let last_page = pages.checked_sub(1).filter(|_| metadata.is_file());
        let place = self.entries.len();
        let identity = Identity::from(metadata);
        self.places.entry(identity).or_insert(place);
        self.entries.push(Entry {
            identity,
            path: path.into(),
            last_page,
        });
    }

    /// The directory itself.
    pub(super) fn root(&self) -> Option<Identity> {
        self.entries.first().map(|entry| entry.identity)
    }

    /// The place of an entry of the directory; nothing for anything else.
    pub(super) fn find(&self, identity: Identity) -> Option<usize> {
        self.places.get(&identity).copied()
    }

    /// What a path of the directory is known by.
    pub(super) fn identity_of(&self, path: &[u8]) -> Option<Identity> {
        let mut entries = self.entries.iter();
        Some(entries.find(|entry| *entry.path == *path)?.identity)
    }

    pub(super) fn entry(&self, place: usize) -> Option<&Entry> {
        self.entries.get(place)
    }
}

impl From<&fs::Metadata> for Identity {
    fn from(metadata: &fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

impl From<rustix::fs::Stat> for Identity {
    fn from(stat: rustix::fs::Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
        }
    }
}
