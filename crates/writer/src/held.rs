//! What a scan found, held fast: others may rename files in a source while it is read, and root
//! must not take their other files for those.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use coldpress_image::open_beneath;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxAttributes, StatxFlags, openat};
use rustix::io::Errno;

/// A FIFO that took the place of a file must not make the build wait for a writer.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);
const LIST: OFlags = READ.union(OFlags::DIRECTORY);
/// Opens nothing of a device, asks no server and breaks no lease.
const HOLD: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Device and inode number.
pub(crate) type Identity = (u64, u64);

/// A file of any type: whatever takes its name, this stays the one that was found.
#[derive(Debug)]
pub(crate) struct Held {
    file: File,
    pub(crate) metadata: Metadata,
}

impl Held {
    fn new(file: OwnedFd) -> io::Result<Self> {
        let file = File::from(file);
        let metadata = file.metadata()?;
        Ok(Self { file, metadata })
    }

    /// Holds what a caller named; a link at the end of the path is itself held.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::new(openat(CWD, path, HOLD | OFlags::NOFOLLOW, Mode::empty())?)
    }

    /// Holds what a caller named, through links.
    pub(crate) fn follow(path: &Path) -> io::Result<Self> {
        Self::new(openat(CWD, path, HOLD, Mode::empty())?)
    }

    /// Holds what has this name in a directory.
    pub(crate) fn entry(directory: &impl AsFd, name: &[u8]) -> io::Result<Self> {
        let flags = HOLD | OFlags::NOFOLLOW;
        Self::new(openat(directory, name, flags, Mode::empty())?)
    }

    pub(crate) fn identity(&self) -> Identity {
        identity(&self.metadata)
    }

    /// The target of a symbolic link.
    pub(crate) fn target(&self) -> io::Result<Vec<u8>> {
        let target = rustix::fs::readlinkat(&self.file, "", Vec::new())?;
        Ok(target.into_bytes())
    }

    /// A path that names it for calls that know only paths, while `/proc` is mounted.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.file.as_raw_fd()).into()
    }
}

/// A directory that a caller named; what is below it is found without following links.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) held: Held,
    path: PathBuf,
}

impl Root {
    /// * `path`: where it is.
    pub(crate) fn new(held: Held, path: PathBuf) -> Self {
        Self { held, path }
    }

    /// Opens a directory that a caller named, through links.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::new(Held::follow(path)?, path.to_path_buf()))
    }

    /// Opens a directory, to be listed.
    ///
    /// * `path`: where it is, the root's path included.
    /// * `found`: what it must be.
    pub(crate) fn list(&self, path: &Path, found: Identity) -> io::Result<File> {
        self.directory(path, found, LIST)
    }

    /// Holds a directory, to find what is in it.
    pub(crate) fn enter(&self, path: &Path, found: Identity) -> io::Result<File> {
        self.directory(path, found, HOLD | OFlags::DIRECTORY)
    }

    fn directory(&self, path: &Path, found: Identity, flags: OFlags) -> io::Result<File> {
        let directory = self.open_below(path, flags)?;
        // Mounted since it was found, as by an automounter: nobody does so but those who may.
        let metadata = directory.metadata()?;
        if is_found(&directory, &metadata, found) || is_mount_root(&directory) {
            return Ok(directory);
        }
        Err(replaced())
    }

    fn open_below(&self, path: &Path, flags: OFlags) -> io::Result<File> {
        let below = path.strip_prefix(&self.path).unwrap_or(path);
        let below = if below.as_os_str().is_empty() {
            Path::new(".")
        } else {
            below
        };
        opened(open_beneath(&self.held.file, below, flags, Mode::empty()))
    }
}

/// Opens a regular file for reading.
///
/// * `root`: the directory that it was found below; none if a caller named the file.
/// * `found`: what it must be.
pub(crate) fn open(root: Option<&Root>, path: &Path, found: Identity) -> io::Result<File> {
    let file = match root {
        Some(root) => root.open_below(path, READ),
        None => opened(openat(CWD, path, READ, Mode::empty())),
    }?;
    let metadata = file.metadata()?;
    if metadata.is_file() && is_found(&file, &metadata, found) {
        return Ok(file);
    }
    Err(replaced())
}

/// Opens a regular file of a directory for reading, whichever it is; `None` if the name has
/// something else.
pub(crate) fn open_entry(directory: &impl AsFd, name: &[u8]) -> io::Result<Option<File>> {
    let held = Held::entry(directory, name)?;
    if !held.metadata.is_file() {
        return Ok(None);
    }
    let file = opened(openat(directory, name, READ, Mode::empty()))?;
    if is_found(&file, &file.metadata()?, held.identity()) {
        return Ok(Some(file));
    }
    Err(replaced())
}

pub(crate) fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

fn opened(opened: rustix::io::Result<OwnedFd>) -> io::Result<File> {
    match opened {
        Err(Errno::LOOP) => Err(replaced()),
        opened => Ok(opened?.into()),
    }
}

fn replaced() -> io::Error {
    io::Error::other("something else took its place after it was found")
}

fn is_found(file: &File, metadata: &Metadata, found: Identity) -> bool {
    let now = identity(metadata);
    now == found || (now.0 == found.0 && has_passing_numbers(file))
}

/// Whether a file system makes inode numbers up for as long as the kernel remembers the inode, so
/// that one file has several in the course of a build.
fn has_passing_numbers(file: &File) -> bool {
    const MSDOS: u64 = 0x4d44;
    const EXFAT: u64 = 0x2011_bab0;
    const FUSE: u64 = 0x6573_5546;
    const CIFS: u64 = 0xff53_4d42;
    const SMB2: u64 = 0xfe53_4d42;
    const VBOXSF: u64 = 0x786f_4256;
    // Of directories whose layers lie on several file systems.
    const OVERLAY: u64 = 0x794c_7630;
    rustix::fs::fstatfs(file).is_ok_and(|it| {
        let magic = u64::try_from(it.f_type).unwrap_or(0);
        [MSDOS, EXFAT, FUSE, CIFS, SMB2, VBOXSF, OVERLAY].contains(&magic)
    })
}

fn is_mount_root(directory: &File) -> bool {
    let found = rustix::fs::statx(directory, "", AtFlags::EMPTY_PATH, StatxFlags::TYPE);
    found.is_ok_and(|it| it.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}
