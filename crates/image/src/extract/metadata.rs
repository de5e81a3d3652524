//! Restoring owners, extended attributes, modes and times.
//!
//! The order matters. Changing the owner clears set-id bits and file capabilities, so it comes
//! first; setting `user.` attributes needs the write permission that the mode may take away;
//! everything before changes the time.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use coldpress_format::{Body, Inode};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Timespec, Timestamps, Uid, XattrFlags};

use super::destination::open;
use super::{Attribute, ExtractOptions, NotRestored};
use crate::error::Error;
use crate::image::Image;
use crate::walk::push_name;

/// The set-user-id and set-group-id bits.
const SET_ID_BITS: u16 = 0o6000;

/// What is to be restored: an open file or directory, or a name that cannot be opened.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    /// An open file or directory.
    Open(BorrowedFd<'a>),
    /// A symbolic link, device, pipe or socket: its directory and name.
    Named(BorrowedFd<'a>, &'a [u8]),
}

impl Target<'_> {
    fn change_owner(self, uid: Uid, gid: Gid) -> rustix::io::Result<()> {
        let (uid, gid) = (Some(uid), Some(gid));
        match self {
            Self::Open(file) => rustix::fs::fchown(file, uid, gid),
            Self::Named(directory, name) => {
                rustix::fs::chownat(directory, name, uid, gid, AtFlags::SYMLINK_NOFOLLOW)
            }
        }
    }

    fn set_xattr(self, name: &[u8], value: &[u8]) -> rustix::io::Result<()> {
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

    fn change_mode(self, mode: Mode) -> rustix::io::Result<()> {
        match self {
            Self::Open(file) => rustix::fs::fchmod(file, mode),
            Self::Named(directory, name) => {
                // By the descriptor's own link: fchmodat follows links.
                let node = open(directory, name, OFlags::PATH, Mode::empty())?;
                rustix::fs::chmod(link_of(node.as_fd()), mode)
            }
        }
    }

    fn change_time(self, mtime_s: u32) -> rustix::io::Result<()> {
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

/// Restores everything that an inode says beside content.
///
/// # Errors
///
/// Only if the image cannot tell it; what the system refuses goes to `not_restored`.
pub(super) fn restore(
    image: &Image,
    options: &ExtractOptions,
    target: Target,
    inode: &Inode,
    path: &dyn Fn() -> Vec<u8>,
    not_restored: &mut Vec<NotRestored>,
) -> Result<(), Error> {
    let mut try_to = |what: &dyn Fn() -> Attribute, done: rustix::io::Result<()>| {
        if let Err(error) = done {
            not_restored.push(NotRestored {
                path: path(),
                what: what(),
                error: error.into(),
            });
        }
        done.is_ok()
    };
    let mut owner_restored = false;
    if options.owners {
        let (uid, gid) = image.owner(inode)?;
        // To the system call, all ones mean "leave as it is".
        let changed = if uid == u32::MAX || gid == u32::MAX {
            Err(rustix::io::Errno::INVAL)
        } else {
            target.change_owner(Uid::from_raw(uid), Gid::from_raw(gid))
        };
        owner_restored = try_to(&|| Attribute::Owner, changed);
    }
    if options.xattrs {
        for (name, value) in image.xattrs(inode)? {
            let set = target.set_xattr(&name, &value);
            try_to(&|| Attribute::Xattr(name.clone()), set);
        }
    }
    if !matches!(inode.body, Body::Symlink(_)) {
        let mut mode = inode.mode;
        // On a directory the group bit only passes the group on.
        let directory = matches!(inode.body, Body::Directory(_));
        if !owner_restored && !directory {
            mode &= !SET_ID_BITS;
        }
        let changed = target.change_mode(Mode::from_raw_mode(mode.into()));
        if try_to(&|| Attribute::Mode, changed) && mode != inode.mode {
            not_restored.push(NotRestored {
                path: path(),
                what: Attribute::SetIdBits,
                error: io::ErrorKind::PermissionDenied.into(),
            });
        }
    }
    let changed = target.change_time(inode.mtime_s);
    if let Err(error) = changed {
        not_restored.push(NotRestored {
            path: path(),
            what: Attribute::Time,
            error: error.into(),
        });
    }
    Ok(())
}
