//! All that a file has besides its content.

use std::ffi::OsString;
use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::{
    Gid, IFlags, Timespec, Timestamps, Uid, XattrFlags, fchown, fgetxattr, flistxattr,
    fremovexattr, fsetxattr, futimens, ioctl_getflags, ioctl_setflags,
};
use rustix::io::Errno;

use crate::leased_file::LeasedFile;
use crate::{Error, syscall};

/// The limits of the kernel for all names and for one value.
const NAMES_BYTES_MAX: usize = 64 << 10;
const VALUE_BYTES_MAX: usize = 64 << 10;

/// The attributes that people set (`chattr`); others are the file system's own notes.
const KEPT_FLAGS: [IFlags; 6] = [
    IFlags::NOATIME,
    IFlags::NODUMP,
    IFlags::SYNC,
    IFlags::NOCOW,
    IFlags::JOURNALING,
    IFlags::COMPRESSED,
];

impl LeasedFile {
    /// Gives an empty file the attributes and the project of this one; some can only be given
    /// before content is.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if this user may not.
    pub fn give_attributes(&self, new: &File) -> Result<(), Error> {
        give_flags(self.file(), new)
            .and_then(|()| give_project(self.file(), new))
            .map_err(Error::io("give its attributes to a copy of", self.path()))
    }

    /// Gives a file the owner, group, mode, xattrs and ACLs of this one.
    ///
    /// * `with_times`: those of access and modification too. That of change is the kernel's.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if this user may not.
    pub fn give_metadata(&self, new: &File, with_times: bool) -> Result<(), Error> {
        let old = self.metadata();
        give_owner(old, new)
            .and_then(|()| give_xattrs(self.file(), new))
            // Last, as a new owner takes set-id bits away.
            .and_then(|()| new.set_permissions(Permissions::from_mode(old.mode() & 0o7777)))
            .and_then(|()| {
                if with_times {
                    give_times(old, new)
                } else {
                    Ok(())
                }
            })
            .and_then(|()| new.sync_all())
            .map_err(Error::io("give its metadata to a copy of", self.path()))
    }

    /// Whether another file has the same owner, group, mode and xattrs.
    pub(super) fn has_metadata_of(&self, other: &File) -> io::Result<bool> {
        let key = |it: &Metadata| (it.uid(), it.gid(), it.mode());
        Ok(key(self.metadata()) == key(&other.metadata()?)
            && xattrs(self.file())? == xattrs(other)?)
    }
}

fn give_owner(old: &Metadata, new: &File) -> io::Result<()> {
    let now = new.metadata()?;
    if (now.uid(), now.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    let (owner, group) = (Uid::from_raw(old.uid()), Gid::from_raw(old.gid()));
    Ok(fchown(new, Some(owner), Some(group))?)
}

fn give_times(old: &Metadata, new: &File) -> io::Result<()> {
    let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    let times = Timestamps {
        last_access: time(old.atime(), old.atime_nsec()),
        last_modification: time(old.mtime(), old.mtime_nsec()),
    };
    Ok(futimens(new, &times)?)
}

/// Sets what differs; a directory may have given the new file some of its own.
fn give_flags(old: &File, new: &File) -> io::Result<()> {
    let flags = |file: &File| match ioctl_getflags(file) {
        Err(Errno::NOTTY | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(IFlags::empty()),
        answer => answer,
    };
    let kept = KEPT_FLAGS.into_iter().collect::<IFlags>();
    let now = flags(new)?;
    let differing = (flags(old)? ^ now) & kept;
    if differing.is_empty() {
        return Ok(());
    }
    Ok(ioctl_setflags(new, now ^ differing)?)
}

/// File systems without projects count for none.
fn give_project(old: &File, new: &File) -> io::Result<()> {
    let project = |file: &File| syscall::project(file.as_fd()).unwrap_or(0);
    let of_old = project(old);
    if of_old == project(new) {
        return Ok(());
    }
    syscall::set_project(new.as_fd(), of_old)
}

fn give_xattrs(old: &File, new: &File) -> io::Result<()> {
    let (wanted, now) = (xattrs(old)?, xattrs(new)?);
    // Those that a directory gives to what is made in it.
    for (name, _) in &now {
        if !wanted.iter().any(|(wanted, _)| wanted == name) {
            fremovexattr(new, name.as_os_str())?;
        }
    }
    for (name, value) in wanted.iter().filter(|wanted| !now.contains(wanted)) {
        fsetxattr(new, name.as_os_str(), value, XattrFlags::empty())?;
    }
    Ok(())
}

/// Names and values, sorted. Without root, those of `trusted.` are not told.
fn xattrs(file: &File) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    let mut names = vec![0; NAMES_BYTES_MAX];
    let len = match flistxattr(file, &mut names[..]) {
        Err(Errno::OPNOTSUPP) => 0,
        answer => answer?,
    };
    let names = names.get(..len).unwrap_or_default();
    let mut found = Vec::new();
    let mut value = vec![0; VALUE_BYTES_MAX];
    for name in names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        let name = OsString::from_vec(name.to_vec());
        let len = fgetxattr(file, name.as_os_str(), &mut value[..])?;
        found.push((name, value.get(..len).unwrap_or_default().to_vec()));
    }
    found.sort();
    Ok(found)
}
