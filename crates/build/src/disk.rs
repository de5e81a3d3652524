//! Where files of the file system lie, in few bytes for each of a million.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::{self, Error};

/// A regular file as the scan found it. 24 bytes: there is one for each file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiskFile {
    directory: u32,
    /// Place of the name in [`Disk::names`].
    name: u32,
    modified_s: i64,
    modified_ns: u32,
    /// Whether it takes less disk than it is long.
    pub(crate) is_sparse: bool,
}

/// The paths of all scanned files: each directory once, and a name for each file.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    directories: Vec<PathBuf>,
    /// Names one after the other, each ended by a zero byte, which no name holds.
    names: Vec<u8>,
}

impl Disk {
    /// Notes a directory in which files are about to be found.
    pub(crate) fn add_directory(&mut self, path: PathBuf) -> Result<u32, Error> {
        // Files that are added one by one often share their directory.
        if self.directories.last() != Some(&path) {
            self.directories.push(path);
        }
        limited(self.directories.len() - 1)
    }

    /// Notes a file of a directory.
    pub(crate) fn add(
        &mut self,
        directory: u32,
        name: &[u8],
        metadata: &Found,
    ) -> Result<DiskFile, Error> {
        let place = limited(self.names.len())?;
        self.names.extend_from_slice(name);
        self.names.push(0);
        Ok(DiskFile {
            directory,
            name: place,
            modified_s: metadata.modified_s,
            modified_ns: metadata.modified_ns,
            is_sparse: metadata.is_sparse,
        })
    }

    pub(crate) fn path(&self, file: &DiskFile) -> PathBuf {
        let names = &self.names[file.name as usize..];
        let end = names.iter().position(|byte| *byte == 0);
        let name = &names[..end.unwrap_or(names.len())];
        self.directories[file.directory as usize].join(OsStr::from_bytes(name))
    }

    /// Opens a file, be it still the one that was found or not.
    pub(crate) fn open(&self, file: &DiskFile) -> Result<File, Error> {
        let path = self.path(file);
        open(&path).map_err(error::source("open", &path))
    }

    pub(crate) fn shrink(&mut self) {
        self.directories.shrink_to_fit();
        self.names.shrink_to_fit();
    }
}

/// A FIFO that took the place of a file must not make the build wait for a writer.
fn open(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
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
    modified_s: i64,
    modified_ns: u32,
    is_sparse: bool,
}

impl Found {
    pub(crate) fn new(metadata: &Metadata) -> Self {
        let allocated_bytes = metadata.blocks().saturating_mul(512);
        Self {
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

fn limited(count: usize) -> Result<u32, Error> {
    u32::try_from(count).map_err(|_| Error::TooMany {
        what: "bytes of file names",
        found: count as u64,
        limit: u32::MAX.into(),
    })
}
