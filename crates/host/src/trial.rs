//! Trying whether the kernel reads an image, where nobody sees it.
//!
//! The image is in memory, its loop device detaches with its last user, and the mount is attached
//! to no directory: it ends with its descriptor. So nothing is left behind, however this
//! process ends.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen,
};

use crate::{Error, LoopDevice, memory_file, path_of_open};

/// The most bytes of the kernel's explanation that are read.
const MESSAGES_BYTES: usize = 4096;

/// What the kernel made of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
    /// It mounted the image and read this from the file.
    Read(Vec<u8>),
    /// It did not, for this reason, as far as it says one.
    Refused(String),
}

/// Whether the kernel has `SquashFS`, as opening it says, which loads its module; `None` without
/// the right to mount.
pub fn has_squashfs() -> Option<bool> {
    match fsopen("squashfs", FsOpenFlags::FSOPEN_CLOEXEC) {
        Ok(_) => Some(true),
        Err(rustix::io::Errno::NODEV) => Some(false),
        Err(_) => None,
    }
}

/// Mounts an image and reads a file of it.
///
/// * `image`: the bytes, a multiple of 512 of them.
/// * `file`: a path in the image, without a slash at its beginning.
///
/// # Errors
///
/// [`Error::Io`] or [`Error::System`] without root, loop devices or Linux 5.2: then nothing was
/// found out about the image.
///
/// # Cost
///
/// Some milliseconds, and memory for the image.
pub fn try_image(image: &[u8], file: &str) -> Result<Trial, Error> {
    let mut memory = memory_file()?;
    memory.write_all(image).map_err(|source| Error::System {
        action: "keep an image in memory",
        source,
    })?;
    let device = LoopDevice::attach(&path_of_open(&memory), false)?;
    let context = open_squashfs()?;
    let mounted = mount(&context, &device);
    let root = match mounted {
        Ok(root) => root,
        Err(errno) => {
            let errno = io::Error::from(errno);
            let refused = Trial::Refused(explanation(context, &errno));
            // Without the right to mount, that is what failed, and not the image.
            if errno.kind() == io::ErrorKind::PermissionDenied {
                let (action, source) = ("mount an image (needs root, CAP_SYS_ADMIN)", errno);
                return Err(Error::System { action, source });
            }
            return Ok(refused);
        }
    };
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut bytes = Vec::new();
    let read = openat(&root, file, flags, Mode::empty())
        .map_err(io::Error::from)
        .and_then(|file| File::from(file).read_to_end(&mut bytes));
    Ok(match read {
        Ok(_) => Trial::Read(bytes),
        Err(error) => Trial::Refused(format!("mounted, but `{file}` cannot be read: {error}")),
    })
}

/// A mount of `SquashFS` to be.
///
/// # Errors
///
/// [`Error::System`] without root, `SquashFS` or Linux 5.2.
pub(crate) fn open_squashfs() -> Result<OwnedFd, Error> {
    fsopen("squashfs", FsOpenFlags::FSOPEN_CLOEXEC).map_err(|errno| Error::System {
        action: "open SquashFS (needs root, CAP_SYS_ADMIN, and SquashFS in the kernel)",
        source: errno.into(),
    })
}

/// Mounts an image where nobody sees it; returns its root directory, with which the mount ends.
pub(crate) fn mount(context: &OwnedFd, device: &LoopDevice) -> rustix::io::Result<OwnedFd> {
    fsconfig_set_string(context, "source", device.path())?;
    fsconfig_set_flag(context, "ro")?;
    fsconfig_create(context)?;
    let flags = FsMountFlags::FSMOUNT_CLOEXEC;
    fsmount(context, flags, MountAttrFlags::MOUNT_ATTR_RDONLY)
}

/// What the file system says of the mount that failed, one message for each read of its context;
/// each begins with its kind and a space.
fn explanation(context: OwnedFd, errno: &io::Error) -> String {
    let mut file = File::from(context);
    let mut buf = [0; MESSAGES_BYTES];
    let mut text = String::new();
    while let Ok(len @ 1..) = file.read(&mut buf) {
        let message = String::from_utf8_lossy(buf.get(..len).unwrap_or_default()).into_owned();
        let message = message.trim_end();
        if !text.is_empty() {
            text.push_str("; ");
        }
        text.push_str(message.split_once(' ').map_or(message, |(_, rest)| rest));
        if text.len() > MESSAGES_BYTES {
            break;
        }
    }
    if text.is_empty() {
        return errno.to_string();
    }
    text
}
