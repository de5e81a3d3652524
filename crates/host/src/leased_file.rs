//! A file that nobody else has open, so that another one can take its place.
//!
//! Whoever has a file open goes on with the old one when another takes its name, and what is
//! written there is lost. The kernel's proof that nobody has is a write lease (`fcntl(2)`,
//! `F_SETLEASE`): it is refused while there is any other descriptor or mapping, and whoever opens
//! the file later waits until the lease is given up. A list of the processes that have it open, as
//! `fuser` makes, would be old before it is read.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::IFlags;
use rustix::io::Errno;

use crate::holders::{Holder, holders};
use crate::{Error, syscall};

/// Processes that are named if a file is in use.
const HOLDERS_MAX: usize = 3;

/// Programs that are started by others have their files open for a moment, and who indexes files
/// has each new one.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// `FS_VERITY_FL` of <linux/fs.h>.
const VERITY: u32 = 0x0010_0000;

/// A regular file that nobody else has open; who opens it waits until this is dropped.
#[derive(Debug)]
pub struct LeasedFile {
    file: File,
    path: PathBuf,
    metadata: Metadata,
}

/// Why a file is left as it was. Each says what to do about it, if anything helps.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It is something else than a regular file.
    NotAFile(&'static str),
    /// Its owner is somebody else.
    NotOwned,
    /// It is immutable or append-only.
    Immutable,
    /// It is sealed by fs-verity.
    Sealed,
    /// Others have it open; none is named if this user may not see them.
    InUse(Vec<Holder>),
    /// Somebody opened it while it was rewritten.
    Opened,
    /// Its file system has no leases.
    NoLeases,
    /// Not all its names were given.
    OtherNames {
        /// How many were.
        given: u64,
        /// How many it has.
        all: u64,
    },
    /// It shares blocks with other files.
    Shared,
    /// Its file system compresses it.
    Encoded,
    /// A name of it stands for another file by now, or there is a new one.
    Renamed,
    /// Its names were split by an interruption, and what they name was changed since.
    Diverged,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAFile("symbolic link") => {
                f.write_str("it is a symbolic link; name the file that it leads to")
            }
            Self::NotAFile(kind) => write!(f, "it is a {kind}, not a regular file"),
            Self::NotOwned => f.write_str(
                "it belongs to another user; its owner and root may \
                rewrite it",
            ),
            Self::Immutable => {
                f.write_str("it is immutable or append-only; `chattr -i -a` takes that back")
            }
            Self::Sealed => f.write_str("it is sealed by fs-verity, which a copy would not be"),
            Self::InUse(holders) if holders.is_empty() => f.write_str(
                "it is in use by a process that this user may not see, or by the \
                kernel",
            ),
            Self::InUse(holders) => {
                let names: Vec<String> = holders.iter().map(ToString::to_string).collect();
                write!(f, "it is in use by {}; end that first", names.join(", "))
            }
            Self::Opened => f.write_str("another process opened it meanwhile; end that first"),
            Self::NoLeases => f.write_str(
                "its file system has no leases, so the kernel cannot confirm that nobody has it \
                 open",
            ),
            Self::OtherNames { given, all } => write!(
                f,
                "it has {all} names (hard links), of which {given} {} given; name all of them",
                if *given == 1 { "was" } else { "were" }
            ),
            Self::Shared => f.write_str(
                "it shares blocks with a copy or a snapshot, and would take their space a second \
                time",
            ),
            Self::Encoded => f.write_str(
                "its file system compresses it, and the copy would not be compressed; \
                 `btrfs filesystem defragment -c` keeps that",
            ),
            Self::Renamed => f.write_str("its names changed meanwhile; try again"),
            Self::Diverged => f.write_str(
                "its names stand for two files since a run was killed, which differ by now; \
                compare them, \
                 and remove the hidden file `.NAME.coldpress-links` beside it to keep both",
            ),
        }
    }
}

impl LeasedFile {
    /// Opens a file if nobody else has it open. Needs its owner's rights.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] says what forbids it; [`Error::Io`].
    pub fn take(path: &Path) -> Result<Self, Error> {
        let refuse = |why| Error::Refused {
            path: path.to_owned(),
            why,
        };
        let named = fs::symlink_metadata(path).map_err(Error::io("look at", path))?;
        if !named.is_file() {
            return Err(refuse(Refusal::NotAFile(kind(&named))));
        }
        // Devices and pipes that are put there just now must not be waited for.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOATIME;
        let mut options = File::options();
        let opened = options.read(true).custom_flags(flags).open(path);
        let file = opened.map_err(|error| {
            if error.raw_os_error() == Some(Errno::PERM.raw_os_error()) {
                refuse(Refusal::NotOwned)
            } else {
                Error::io("open", path)(error)
            }
        })?;
        let look = || file.metadata().map_err(Error::io("look at", path));
        if !is_same(&look()?, &named) {
            return Err(refuse(Refusal::Renamed));
        }
        if let Some(why) = protection(&file) {
            return Err(refuse(why));
        }
        lease(&file).map_err(|errno| match errno {
            Errno::AGAIN => {
                let (device, inode) = (named.dev(), named.ino());
                refuse(Refusal::InUse(holders(device, inode, HOLDERS_MAX)))
            }
            Errno::ACCESS => refuse(Refusal::NotOwned),
            Errno::INVAL | Errno::OPNOTSUPP | Errno::NOLCK => refuse(Refusal::NoLeases),
            errno => Error::errno("take a lease of", path)(errno),
        })?;
        // From here on nobody changes it.
        let metadata = look()?;
        Ok(Self {
            file,
            path: path.to_owned(),
            metadata,
        })
    }

    /// The file, open for reading.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The name by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was known of it before it was read.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Fails if somebody waits to open it.
    ///
    /// # Errors
    ///
    /// [`Refusal::Opened`].
    pub fn check_alone(&self) -> Result<(), Error> {
        if syscall::has_write_lease(self.file.as_fd()) {
            Ok(())
        } else {
            Err(self.refused(Refusal::Opened))
        }
    }

    pub(crate) fn refused(&self, why: Refusal) -> Error {
        Error::Refused {
            path: self.path.clone(),
            why,
        }
    }

    /// Whether a name stands for this file.
    pub(crate) fn is_at(&self, name: &Path) -> bool {
        fs::symlink_metadata(name).is_ok_and(|found| is_same(&found, &self.metadata))
    }
}

/// Takes a write lease, after a moment if need be.
fn lease(file: &File) -> Result<(), Errno> {
    let mut tries = TRIES;
    loop {
        match syscall::take_write_lease(file.as_fd()) {
            Err(Errno::AGAIN) if tries > 0 => tries -= 1,
            answer => return answer,
        }
        sleep(PAUSE);
    }
}

/// Whether both are the same file.
pub(crate) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// What the attributes of the inode forbid. File systems without any forbid nothing.
fn protection(file: &File) -> Option<Refusal> {
    let flags = rustix::fs::ioctl_getflags(file).ok()?;
    if flags.intersects(IFlags::IMMUTABLE | IFlags::APPEND) {
        Some(Refusal::Immutable)
    } else if flags.bits() & VERITY != 0 {
        Some(Refusal::Sealed)
    } else {
        None
    }
}

/// What a name stands for that is no regular file.
fn kind(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_dir() {
        "directory"
    } else if kind.is_symlink() {
        "symbolic link"
    } else if kind.is_fifo() {
        "pipe"
    } else if kind.is_socket() {
        "socket"
    } else {
        "device"
    }
}
