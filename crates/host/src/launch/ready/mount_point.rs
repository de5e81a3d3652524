//! A directory on which a file system is mounted.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

/// Whether one is: it belongs to another mount than the directory above it.
pub(super) fn is_mounted(directory: &Path) -> bool {
    // Without asking the file system, which may be a process that hangs.
    let flags = AtFlags::STATX_DONT_SYNC;
    let mount = |path: &Path| {
        let found = statx(CWD, path, flags, StatxFlags::MNT_ID).ok()?;
        Some(found.stx_mnt_id)
    };
    let above = directory.parent().and_then(mount);
    above.is_some() && mount(directory).is_some_and(|mount| Some(mount) != above)
}
