//! Restoring owners, extended attributes, modes and times.
//!
//! The order matters. Changing the owner clears set-id bits and file capabilities, so it comes
//! first; setting `user.` attributes needs the write permission that the mode may take away;
//! everything before changes the time. What a new file has already is not set again.

mod target;

use std::io;
use std::sync::Arc;

use coldpress_format::{Body, Inode};
use rustix::fs::{Gid, Mode, Stat, Uid};

use super::options::{Change, ExtractOptions, KeepXattr, Metadata};
use super::report::{Attribute, NotRestored};
use crate::error::Error;
use crate::image::Image;
use crate::xattr::Xattr;

pub(super) use target::Target;

const SET_UID_BIT: u16 = 0o4000;
const SET_GID_BIT: u16 = 0o2000;
const SET_ID_BITS: u16 = SET_UID_BIT | SET_GID_BIT;
/// All that `chmod(2)` takes.
const MODE_BITS: u16 = 0o7777;

/// The mode of a file that lacks content, and may for long.
pub(super) const UNFINISHED: Mode = Mode::RUSR.union(Mode::WUSR);

/// The mode with which a file is created that is finished at once: its own, if the caller's group
/// may do no more with the file than everybody, and no attribute is still to be set, which the mode
/// may forbid.
pub(super) fn first_mode(inode: &Inode) -> Mode {
    let (group, others) = (inode.mode >> 3 & 0o7, inode.mode & 0o7);
    if inode.xattr.is_some() || inode.mode & !0o777 != 0 || group != others {
        return UNFINISHED;
    }
    Mode::from_raw_mode(inode.mode.into())
}

/// What is restored of every inode, and with what changes.
pub(super) struct Restoring<'a> {
    image: &'a Image,
    owners: bool,
    xattrs: bool,
    keep_xattr: Option<&'a KeepXattr<'a>>,
    change: Option<&'a Change<'a>>,
    keep_going: bool,
}

impl<'a> Restoring<'a> {
    pub(super) fn new(image: &'a Image, options: &ExtractOptions<'a>) -> Self {
        Self {
            image,
            owners: options.owners,
            xattrs: options.xattrs,
            keep_xattr: options.keep_xattr,
            change: options.change,
            keep_going: options.keep_going,
        }
    }

    /// Restores everything that an inode says beside content.
    ///
    /// What the system refuses goes to `not_restored`; so does what the image cannot tell, if the
    /// extraction is to keep going.
    ///
    /// # Errors
    ///
    /// If the image cannot tell it.
    pub(super) fn restore(
        &self,
        target: Target,
        inode: &Inode,
        path: &dyn Fn() -> Vec<u8>,
        not_restored: &mut Vec<NotRestored>,
    ) -> Result<(), Error> {
        let mut lacks = Lacks { path, not_restored };
        let metadata = self.metadata(inode, &mut lacks)?;
        // Asking is a tenth of a change that changes nothing, which file systems journal too.
        let stat = target.stat().ok();
        // The owner comes first: changing it clears set-id bits.
        let set_id_bits = lacks.owner(target, metadata, stat.as_ref());
        let xattrs = self.xattrs(inode, &mut lacks)?;
        let keeps = |name: &Vec<u8>| self.keep_xattr.is_none_or(|keep| keep(name));
        for (name, value) in xattrs.iter().filter(|(name, _)| keeps(name)) {
            let set = target.set_xattr(name, value);
            lacks.unless_done(set, || Attribute::Xattr(name.clone()));
        }
        if !matches!(inode.body, Body::Symlink(_)) {
            // On a directory the group bit only passes the group on.
            let directory = matches!(inode.body, Body::Directory(_));
            let lost = if directory {
                0
            } else {
                SET_ID_BITS & !set_id_bits
            };
            let mode = metadata.mode & MODE_BITS & !lost;
            let mode = Mode::from_raw_mode(mode.into());
            let changed = match stat {
                Some(stat) if Mode::from_raw_mode(stat.st_mode) == mode => Ok(()),
                _ => target.change_mode(mode),
            };
            if lacks.unless_done(changed, || Attribute::Mode) && metadata.mode & lost != 0 {
                lacks.add(Attribute::SetIdBits, io::ErrorKind::PermissionDenied.into());
            }
        }
        let changed = target.change_time(metadata.mtime_s);
        lacks.unless_done(changed, || Attribute::Time);
        Ok(())
    }

    /// What the inode and the caller say.
    fn metadata(&self, inode: &Inode, lacks: &mut Lacks) -> Result<Metadata, Error> {
        let owner = if self.owners {
            let owner = self.image.owner(inode);
            self.told(owner, lacks, Attribute::Owner)?
        } else {
            None
        };
        let mut metadata = Metadata {
            uid: owner.map(|(uid, _)| uid),
            gid: owner.map(|(_, gid)| gid),
            mode: inode.mode,
            mtime_s: inode.mtime_s,
        };
        if let Some(change) = self.change {
            change(inode, &mut metadata);
        }
        Ok(metadata)
    }

    fn xattrs(&self, inode: &Inode, lacks: &mut Lacks) -> Result<Arc<Vec<Xattr>>, Error> {
        if !self.xattrs {
            return Ok(Arc::default());
        }
        let xattrs = self.image.xattrs(inode);
        let xattrs = self.told(xattrs, lacks, Attribute::Xattrs)?;
        Ok(xattrs.unwrap_or_default())
    }

    /// What the image told; `None` if it could not and the extraction is to keep going.
    fn told<T>(
        &self,
        told: Result<T, Error>,
        lacks: &mut Lacks,
        what: Attribute,
    ) -> Result<Option<T>, Error> {
        match told {
            Ok(told) => Ok(Some(told)),
            Err(error) if self.keep_going => {
                lacks.add(what, io::Error::other(error));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Where it is noted what one path lacks.
struct Lacks<'a> {
    path: &'a dyn Fn() -> Vec<u8>,
    not_restored: &'a mut Vec<NotRestored>,
}

impl Lacks<'_> {
    fn add(&mut self, what: Attribute, error: io::Error) {
        let path = (self.path)();
        self.not_restored.push(NotRestored { path, what, error });
    }

    /// Notes an attribute that was not set; returns whether it was.
    fn unless_done(
        &mut self,
        done: rustix::io::Result<()>,
        what: impl FnOnce() -> Attribute,
    ) -> bool {
        if let Err(error) = done {
            self.add(what(), error.into());
        }
        done.is_ok()
    }

    /// Restores the owner; returns which of the set-id bits may be restored too.
    ///
    /// * `stat`: what the target has, if that is known.
    fn owner(&mut self, target: Target, metadata: Metadata, stat: Option<&Stat>) -> u16 {
        let Metadata { uid, gid, .. } = metadata;
        if uid.is_none() && gid.is_none() {
            return 0;
        }
        let has = stat.is_some_and(|stat| {
            uid.is_none_or(|uid| uid == stat.st_uid) && gid.is_none_or(|gid| gid == stat.st_gid)
        });
        // To the system call, all ones mean "leave as it is".
        let changed = if uid == Some(u32::MAX) || gid == Some(u32::MAX) {
            Err(rustix::io::Errno::INVAL)
        } else if has {
            Ok(())
        } else {
            target.change_owner(uid.map(Uid::from_raw), gid.map(Gid::from_raw))
        };
        if !self.unless_done(changed, || Attribute::Owner) {
            return 0;
        }
        let bit = |id: Option<u32>, bit| if id.is_some() { bit } else { 0 };
        bit(uid, SET_UID_BIT) | bit(gid, SET_GID_BIT)
    }
}

#[cfg(test)]
mod tests {
    use coldpress_format::File;

    use super::*;

    #[test]
    fn files_are_created_with_their_mode_if_that_gives_nothing_away() {
        for (mode, xattr, expected) in [
            (0o644, None, 0o644),
            (0o755, None, 0o755),
            (0o640, None, 0o600),
            (0o444, None, 0o444),
            (0o644, Some(0), 0o600),
            (0o604, None, 0o600),
            (0o4755, None, 0o600),
            (0o1644, None, 0o600),
        ] {
            let inode = Inode {
                mode,
                uid_index: 0,
                gid_index: 0,
                mtime_s: 0,
                number: 1,
                link_count: 1,
                xattr,
                body: Body::File(File::default()),
            };
            assert_eq!(first_mode(&inode).as_raw_mode(), expected, "{mode:o}");
        }
    }
}
