//! Where files of the file system lie, in few bytes for each of a million.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{self, Error};
use crate::held::{self, Root};

/// Roots that are kept open. A file below a further one is opened by its whole path, and known by
/// its inode alone.
const ROOTS_MAX: usize = 64;

/// A regular file as the scan found it. 32 bytes: there is one for each file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiskFile {
    directory: u32,
    /// Place of the name in [`Disk::names`].
    name: u32,
    modified_s: i64,
    modified_ns: u32,
    /// Place of the device number in [`Disk::devices`].
    device: u16,
    /// Whether it takes less disk than it is long.
    pub(crate) is_sparse: bool,
    inode: u64,
}

/// A directory that has files.
#[derive(Debug)]
struct Directory {
    path: PathBuf,
    /// Place in [`Disk::roots`] of the directory that it was found below.
    root: Option<u16>,
}

/// The paths of all scanned files: each directory once, and a name for each file.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    directories: Vec<Directory>,
    roots: Vec<Arc<Root>>,
    devices: Vec<u64>,
    /// Names one after the other, each ended by a zero byte, which no name holds.
    names: Vec<u8>,
}

impl Disk {
    /// Notes a directory in which files are about to be found.
    ///
    /// * `root`: the directory that it was found below; none if a caller named it.
    pub(crate) fn add_directory(
        &mut self,
        path: PathBuf,
        root: Option<&Arc<Root>>,
    ) -> Result<u32, Error> {
        let root = root.and_then(|root| self.keep(root));
        // Files that are added one by one often share their directory.
        let is_last = |last: &Directory| last.path == path && last.root == root;
        if !self.directories.last().is_some_and(is_last) {
            self.directories.push(Directory { path, root });
        }
        limited(self.directories.len() - 1, "directories")
    }

    /// Keeps a root open, if there are not too many.
    fn keep(&mut self, root: &Arc<Root>) -> Option<u16> {
        let known = self.roots.iter().rposition(|it| Arc::ptr_eq(it, root));
        if known.is_none() {
            if self.roots.len() == ROOTS_MAX {
                return None;
            }
            self.roots.push(Arc::clone(root));
        }
        u16::try_from(known.unwrap_or(self.roots.len() - 1)).ok()
    }

    /// Notes a file of a directory.
    pub(crate) fn add(
        &mut self,
        directory: u32,
        name: &[u8],
        metadata: &Found,
    ) -> Result<DiskFile, Error> {
        let (device, inode) = metadata.identity;
        let known = self.devices.iter().rposition(|it| *it == device);
        let known = known.unwrap_or_else(|| {
            self.devices.push(device);
            self.devices.len() - 1
        });
        let place = limited(self.names.len(), "bytes of file names")?;
        self.names.extend_from_slice(name);
        self.names.push(0);
        Ok(DiskFile {
            directory,
            name: place,
            modified_s: metadata.modified_s,
            modified_ns: metadata.modified_ns,
            device: limited(known, "file systems")?,
            is_sparse: metadata.is_sparse,
            inode,
        })
    }

    pub(crate) fn path(&self, file: &DiskFile) -> PathBuf {
        let names = &self.names[file.name as usize..];
        let end = names.iter().position(|byte| *byte == 0);
        let name = &names[..end.unwrap_or(names.len())];
        let directory = &self.directories[file.directory as usize];
        directory.path.join(OsStr::from_bytes(name))
    }

    /// Opens a file if it is still the one that was found, whatever was written to it.
    pub(crate) fn open(&self, file: &DiskFile) -> Result<File, Error> {
        let path = self.path(file);
        let root = self.directories[file.directory as usize].root;
        let root = root.map(|root| &*self.roots[usize::from(root)]);
        let found = (self.devices[usize::from(file.device)], file.inode);
        held::open(root, &path, found).map_err(error::source("open", &path))
    }

    pub(crate) fn shrink(&mut self) {
        self.directories.shrink_to_fit();
        self.names.shrink_to_fit();
    }
}

impl DiskFile {
    /// Whether an open file is the regular file of the length and time that were found.
    pub(crate) fn is_unchanged(&self, file: &File, size_bytes: u64) -> bool {
        file.metadata().is_ok_and(|metadata| {
            metadata.is_file()
                && metadata.len() == size_bytes
                && metadata.mtime() == self.modified_s
                && metadata.mtime_nsec() == i64::from(self.modified_ns)
        })
    }
}

/// What of a file's metadata is kept to know it again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    identity: held::Identity,
    modified_s: i64,
    modified_ns: u32,
    is_sparse: bool,
}

impl Found {
    pub(crate) fn new(metadata: &Metadata) -> Self {
        let allocated_bytes = metadata.blocks().saturating_mul(512);
        Self {
            identity: held::identity(metadata),
            modified_s: metadata.mtime(),
            modified_ns: u32::try_from(metadata.mtime_nsec()).unwrap_or(0),
            is_sparse: metadata.is_file() && allocated_bytes < metadata.len(),
        }
    }

    /// Whether both have the same modification time.
    pub(crate) fn has_time_of(&self, other: &Self) -> bool {
        (self.modified_s, self.modified_ns) == (other.modified_s, other.modified_ns)
    }
}

fn limited<N: TryFrom<usize>>(count: usize, what: &'static str) -> Result<N, Error> {
    N::try_from(count).map_err(|_| Error::TooMany {
        what,
        found: count as u64,
        limit: u64::MAX >> (64 - 8 * size_of::<N>()),
    })
}
