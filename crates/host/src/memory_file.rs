//! Files that are in memory alone, and gone with the process.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::Error;

/// An empty file in memory, without a name. Needs no privilege.
///
/// # Errors
///
/// [`Error::System`] if the process may have no more open files.
pub fn memory_file() -> Result<File, Error> {
    let file = memfd_create("coldpress", MemfdFlags::CLOEXEC).map_err(|errno| Error::System {
        action: "keep a file in memory (memfd_create)",
        source: errno.into(),
    })?;
    Ok(file.into())
}

/// A path by which this process can open an open file once more, also one without a name.
pub fn path_of_open(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
