//! A mount namespace of our own, so that mounts vanish with the process, however it ends.

use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount,
};

use crate::launch::Identity;
use crate::{Error, syscall};

/// Gives the calling thread, and all that it starts later, a mount namespace of its own.
///
/// Call it at the start, before any thread is started: threads that run already keep the old
/// namespace, and what they mount would stay behind. Mounts that others make later are still seen
/// here (and their unmounting too, so that no stick is held), but none of ours outside.
///
/// # Errors
///
/// [`Error::System`] without `CAP_SYS_ADMIN`.
pub fn enter_private_namespace() -> Result<(), Error> {
    syscall::unshare_mounts().map_err(|source| Error::System {
        action: "make a private mount namespace (needs root, CAP_SYS_ADMIN)",
        source,
    })?;
    let flags = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    mount_change("/", flags).map_err(|errno| Error::System {
        action: "stop mounts from spreading out of the private mount namespace",
        source: errno.into(),
    })
}

/// As [`enter_private_namespace`] for anyone: who may not mount gets a user namespace as well, in
/// which it stays who it is, has all rights over what it mounts, and all other users and groups are
/// nobody. Programs that it starts have no such rights.
///
/// Call it before any thread is started: a process with threads cannot change its user namespace.
/// Returns whether it got one.
///
/// # Errors
///
/// [`Error::System`] if the kernel gives none.
pub fn enter_own_namespaces() -> Result<bool, Error> {
    // Not asked for before, in a thread of its own: that may still be ending when the process is to
    // have none.
    if enter_private_namespace().is_ok() {
        return Ok(false);
    }
    let entered = Identity::unchanged().enter_namespace();
    entered.map_err(|errno| Error::System {
        action: "make a user namespace",
        source: errno.into(),
    })?;
    enter_private_namespace()?;
    Ok(true)
}

/// Hides a directory behind an empty one in memory.
///
/// # Errors
///
/// [`Error::Io`] outside of an own namespace, or if it is missing.
pub fn mount_empty(at: &Path) -> Result<(), Error> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount(c"tmpfs", at, c"tmpfs", flags, c"mode=0755")
        .map_err(Error::errno("mount an empty directory on", at))
}

/// Takes a mount out of sight, with all that is mounted below. Nothing mounted there is no error.
///
/// # Errors
///
/// [`Error::Io`] if the kernel refuses it.
pub fn detach(at: &Path) -> Result<(), Error> {
    match unmount(at, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW) {
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(errno) => Err(Error::errno("unmount", at)(errno)),
    }
}
