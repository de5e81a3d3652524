//! The calls that change metadata, of what is open and of what cannot be opened.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Stat, Timespec, Timestamps, Uid, XattrFlags};

use crate::extract::destination::open;
use crate::walk::push_name;

/// What is to be restored: an open file or directory, or a name that cannot be opened.
#[derive(Clone, Copy)]
pub(in crate::extract) enum Target<'a> {
    /// An open file or directory.
    Open(BorrowedFd<'a>),
    /// A symbolic link, device, pipe or socket: its directory and name.
    Named(BorrowedFd<'a>, &'a [u8]),
}

impl Target<'_> {
    /// What it has already.
    pub(super) fn stat(self) -> rustix::io::Result<Stat> {
        match self {
            Self::Open(file) => rustix::fs::fstat(file),
            Self::Named(directory, name) => {
                rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
            }
        }
    }

    pub(super) fn change_owner(self, uid: Option<Uid>, gid: Option<Gid>) -> rustix::io::Result<()> {
        match self {
            Self::Open(file) => rustix::fs::fchown(file, uid, gid),
            Self::Named(directory, name) => {
                rustix::fs::chownat(directory, name, uid, gid, AtFlags::SYMLINK_NOFOLLOW)
            }
        }
    }

    pub(super) fn set_xattr(self, name: &[u8], value: &[u8]) -> rustix::io::Result<()> {
        match self {
            Self::Open(file) => rustix::fs::fsetxattr(file, name, value, XattrFlags::empty()),
            Self::Named(directory, file) => {
                // There is no call that takes a directory and a name.
                let mut path = link_of(directory);
                push_name(&mut path, file);
                rustix::fs::lsetxattr(path, name, value, XattrFlags::empty())
            }
        }
    }

    pub(super) fn change_mode(self, mode: Mode) -> rustix::io::Result<()> {
        match self {
            Self::Open(file) => rustix::fs::fchmod(file, mode),
            Self::Named(directory, name) => {
                // By the descriptor's own link: fchmodat follows links.
                let node = open(directory, name, OFlags::PATH, Mode::empty())?;
                rustix::fs::chmod(link_of(node.as_fd()), mode)
            }
        }
    }

    pub(super) fn change_time(self, mtime_s: u32) -> rustix::io::Result<()> {
        let time = Timespec {
            tv_sec: mtime_s.into(),
            tv_nsec: 0,
        };
        let times = Timestamps {
            last_access: time,
            last_modification: time,
        };
        match self {
            Self::Open(file) => rustix::fs::futimens(file, &times),
            Self::Named(directory, name) => {
                rustix::fs::utimensat(directory, name, &times, AtFlags::SYMLINK_NOFOLLOW)
            }
        }
    }
}

/// The path by which an open descriptor can be named.
fn link_of(descriptor: BorrowedFd) -> Vec<u8> {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd()).into_bytes()
}
