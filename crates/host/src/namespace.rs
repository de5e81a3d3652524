//! A mount namespace of our own, so that mounts vanish with the process, however it ends.

use rustix::mount::{MountPropagationFlags, mount_change};

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
