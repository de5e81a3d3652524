//! Files of a mount, by paths that anybody may have written.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;

/// The root directory of a mount; files are found below it.
#[derive(Debug)]
pub struct MountRoot(OwnedFd);

impl MountRoot {
    /// Opens the directory on which something is mounted.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn open(mount: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(openat(CWD, mount, flags, Mode::empty())?))
    }

    /// Opens what a path names as a place: it is looked up and nothing else happens to it. No link
    /// is followed as the last name, and nothing that is mounted below is entered.
    ///
    /// * `path`: from the root of the mount.
    ///
    /// # Errors
    ///
    /// If it is not there.
    pub fn find(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let relative = path.strip_prefix(b"/").unwrap_or(path);
        let relative = if relative.is_empty() { b"." } else { relative };
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_XDEV | ResolveFlags::NO_MAGICLINKS;
        openat2(
            &self.0,
            OsStr::from_bytes(relative),
            flags,
            Mode::empty(),
            resolve,
        )
    }

    /// Opens a regular file: opening anything else might do something.
    ///
    /// # Errors
    ///
    /// If it is not there, is no regular file, or may not be read.
    pub fn open_file(&self, path: &[u8]) -> io::Result<File> {
        let place = self.find(path)?;
        if FileType::from_raw_mode(fstat(&place)?.st_mode) != FileType::RegularFile {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        File::open(format!("/proc/self/fd/{}", place.as_raw_fd()))
    }
}
