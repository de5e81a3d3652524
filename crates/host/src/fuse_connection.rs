//! A mount whose requests this process answers through FUSE.
//!
//! The kernel mounts for whoever may mount: root, and root of a user namespace of its own. For all
//! others `fusermount3`, which is set-user-ID root, mounts what is read-only, without devices and
//! set-user-ID programs, on a directory that they own.

mod helper;

use std::ffi::{CString, OsString};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{getegid, geteuid};

use crate::Error;
use crate::launch::may_become_root;
use crate::privileges::can_mount;

/// Where connections to the kernel are opened.
const DEVICE: &str = "/dev/fuse";
/// What the mount table calls the file system.
const KIND: &str = "fuse.coldpress";

/// What this process lacks to mount through FUSE, if anything.
///
/// * `chroot`: whether a program is to have the mount as its root directory.
pub fn cannot_mount_fuse(chroot: bool) -> Option<&'static str> {
    // fusermount3 opens it with the rights of who calls it.
    if access(DEVICE, Access::READ_OK | Access::WRITE_OK).is_err() {
        return Some("the right to open /dev/fuse");
    }
    if !can_mount() && !helper::is_there() {
        return Some("root, or fusermount3 of the package fuse3");
    }
    if chroot && !can_mount() && !may_become_root() {
        return Some(
            "the right to change the root directory (root, or user namespaces for everyone)",
        );
    }
    None
}

/// How a file system of this process is mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FuseOptions {
    /// What the mount table calls its source: the image.
    pub source: OsString,
    /// Whether other users may use it; without root, `user_allow_other` in `/etc/fuse.conf` must
    /// allow that.
    pub everyone: bool,
    /// Whether the kernel checks permissions by owner and mode.
    pub checks_permissions: bool,
}

/// A mount of this process's; unmounted on drop.
#[derive(Debug)]
pub struct FuseConnection {
    at: PathBuf,
    device: OwnedFd,
}

impl FuseConnection {
    /// Mounts read-only on an existing directory, without devices and set-user-ID programs.
    ///
    /// Nothing that is done with the mount returns before the requests that come from the device,
    /// which is the second value, are answered.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the directory is missing or may not be mounted on, [`Error::NotServed`] if
    /// neither the kernel nor `fusermount3` mounts it.
    pub fn mount(at: &Path, options: &FuseOptions) -> Result<(Self, OwnedFd), Error> {
        let at = at.canonicalize().map_err(Error::io("mount on", at))?;
        let device = match mount_directly(&at, options)? {
            Some(device) => device,
            None => helper::mount(&at, options)?,
        };
        let duplicate = device.try_clone();
        let connection = Self { at, device };
        let device = duplicate.map_err(Error::io("use", Path::new(DEVICE)))?;
        Ok((connection, device))
    }

    /// Where it is mounted.
    pub fn root(&self) -> &Path {
        &self.at
    }

    /// Whether it is still mounted, or was detached and is in use.
    pub fn is_connected(&self) -> bool {
        let mut polled = [PollFd::new(&self.device, PollFlags::empty())];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // The kernel tells an error of a connection that has ended, and of no other.
        let answer = poll(&mut polled, Some(&now));
        answer.is_ok() && !polled[0].revents().contains(PollFlags::ERR)
    }

    /// Unmounts it if nobody uses it; returns whether it did.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it may not be unmounted.
    pub fn unmount_unused(&self) -> Result<bool, Error> {
        self.leave(UnmountFlags::empty())
    }

    /// Takes it out of sight; the kernel unmounts it with its last user.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it may not be unmounted.
    pub fn detach(&self) -> Result<(), Error> {
        self.leave(UnmountFlags::DETACH).map(|_| ())
    }

    fn leave(&self, flags: UnmountFlags) -> Result<bool, Error> {
        // Something else may be mounted there by now.
        if !self.is_connected() {
            return Ok(true);
        }
        match unmount(&self.at, flags | UnmountFlags::NOFOLLOW) {
            // Invalid: detached before, and still in use.
            Ok(()) | Err(Errno::INVAL) => Ok(true),
            Err(Errno::BUSY) => Ok(false),
            Err(Errno::PERM) => helper::unmount(&self.at, flags.contains(UnmountFlags::DETACH)),
            Err(errno) => Err(Error::errno("unmount", &self.at)(errno)),
        }
    }
}

impl Drop for FuseConnection {
    fn drop(&mut self) {
        // A drop cannot report; with the process the connection ends in any case.
        let _ = self.detach();
    }
}

/// Asks the kernel; `None` if that is not for this process to do.
fn mount_directly(at: &Path, options: &FuseOptions) -> Result<Option<OwnedFd>, Error> {
    let Ok(device) = File::options().read(true).write(true).open(DEVICE) else {
        // Not there, or not for everyone: the helper says which.
        return Ok(None);
    };
    let mut data = format!(
        "fd={},rootmode=40000,user_id={},group_id={}",
        device.as_raw_fd(),
        geteuid().as_raw(),
        getegid().as_raw()
    );
    for (is_wanted, name) in [
        (options.everyone, ",allow_other"),
        (options.checks_permissions, ",default_permissions"),
    ] {
        if is_wanted {
            data.push_str(name);
        }
    }
    let data = CString::new(data).unwrap_or_default();
    let flags = MountFlags::RDONLY | MountFlags::NODEV | MountFlags::NOSUID;
    match mount(source(options).as_bytes(), at, KIND, flags, data.as_c_str()) {
        Ok(()) => Ok(Some(device.into())),
        Err(Errno::PERM) => Ok(None),
        Err(errno) => Err(Error::errno("mount on", at)(errno)),
    }
}

/// The source as a name in the mount table, which must not be empty.
fn source(options: &FuseOptions) -> OsString {
    let name = options.source.as_bytes();
    if name.is_empty() || name.contains(&0) {
        return "coldpress".into();
    }
    OsString::from_vec(name.to_vec())
}
