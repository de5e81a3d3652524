//! The page cache: emptied before a cold start, and asked afterwards what it holds.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use coldpress_trace::PAGE_SIZE_BYTES;
use rustix::fs::{Advice, fadvise, fsync, major, minor, syncfs};

use crate::{Error, syscall};

/// Drops clean pages, directory entries and inodes of the whole machine.
///
/// Pages that are not yet written back stay; [`evict`] writes those of one file first. It slows
/// everything else on the machine for a while, since all have to read again.
///
/// # Errors
///
/// [`Error::Io`] without root.
pub fn drop_caches() -> Result<(), Error> {
    let path = Path::new("/proc/sys/vm/drop_caches");
    fs::write(path, "3\n").map_err(Error::io("write to", path))
}

/// Writes everything back that is only in memory, so that [`drop_caches`] can drop it.
///
/// # Cost
///
/// As much time as the disks need for it.
pub fn write_back_all() {
    rustix::fs::sync();
}

/// Writes a file back and drops its pages from the page cache.
///
/// The kernel keeps pages that are mapped or in use; check with [`resident_pages`].
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be opened or written back.
pub fn evict(path: &Path) -> Result<(), Error> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    fsync(&file).map_err(Error::errno("write back", path))?;
    fadvise(&file, 0, None, Advice::DontNeed).map_err(Error::errno("evict from memory", path))
}

/// Writes to the disk what of a file system is not yet there. Needs no privilege.
///
/// * `path`: of anything in it that can be opened.
///
/// # Errors
///
/// [`Error::Io`].
///
/// # Cost
///
/// Waits for the disk; nothing in a file system in memory.
pub fn write_back(path: &Path) -> Result<(), Error> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    syncfs(&file).map_err(Error::errno("write back", path))
}

/// Pages of 4 KiB of an open file or block device that are in the page cache.
///
/// Pages past the end of the file count too: `SquashFS` fills the cache by whole blocks, so a file
/// of 700 bytes in an image of 1 MiB blocks can hold 256 pages.
///
/// # Errors
///
/// [`Error::System`] before Linux 6.5, which brought `cachestat(2)`, and for files that the
/// process neither owns nor may write (root may ask about all).
pub fn resident_pages(file: impl AsFd) -> Result<u64, Error> {
    let count = syscall::cachestat(file.as_fd()).map_err(|source| Error::System {
        action: "count resident pages (cachestat needs Linux 6.5 and root)",
        source,
    })?;
    Ok(count.saturating_mul(kernel_page_size_in_pages()))
}

/// The kernel counts in its own pages, which have 16 or 64 KiB on some machines.
pub(crate) fn kernel_page_size_in_pages() -> u64 {
    let size_bytes = u64::try_from(rustix::param::page_size()).unwrap_or(PAGE_SIZE_BYTES);
    (size_bytes / PAGE_SIZE_BYTES).max(1)
}

/// Major and minor number of the whole disk below a path: the disk of its partition, if it is on
/// one.
///
/// # Errors
///
/// [`Error::NotOnDisk`] for file systems without a block device of their own (overlay, tmpfs,
/// network file systems, btrfs).
pub fn backing_disk(path: &Path) -> Result<(u32, u32), Error> {
    let metadata = fs::metadata(path).map_err(Error::io("look at", path))?;
    let (major, minor) = (major(metadata.dev()), minor(metadata.dev()));
    let not_on_disk = || Error::NotOnDisk {
        path: path.to_owned(),
        major,
        minor,
    };
    // The link of a partition leads to a directory inside the directory of its disk.
    let link = Path::new("/sys/dev/block").join(format!("{major}:{minor}"));
    let device = fs::canonicalize(link).map_err(|_| not_on_disk())?;
    let disk = if device.join("partition").exists() {
        device.parent().ok_or_else(not_on_disk)?
    } else {
        &device
    };
    let numbers = disk.join("dev");
    let text = fs::read_to_string(&numbers).map_err(Error::io("read", &numbers))?;
    parse_device_number(&text).ok_or(Error::Malformed {
        path: numbers,
        start_byte: 0,
        rule: "a device number is two decimal numbers with a colon between",
    })
}

fn parse_device_number(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim_end().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_numbers_are_read() {
        assert_eq!(parse_device_number("254:0\n"), Some((254, 0)));
        assert_eq!(parse_device_number("8:17"), Some((8, 17)));
        for text in ["", "8", "8:", ":1", "a:1", "8:1:1", "8:99999999999"] {
            assert_eq!(parse_device_number(text), None, "{text}");
        }
    }

    #[test]
    fn proc_is_not_on_a_disk() {
        let error = backing_disk(Path::new("/proc/self/status")).unwrap_err();
        assert!(
            matches!(error, Error::NotOnDisk { major: 0, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("put the image on a disk"));
    }
}
