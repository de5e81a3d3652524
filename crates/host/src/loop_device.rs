//! An image as a block device.
//!
//! Each run gets a loop device of its own, so no page of an earlier one is left in it. It is
//! marked to detach with its last user (`LO_FLAGS_AUTOCLEAR`), so it does not outlive a process
//! that was killed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use rustix::io::Errno;

use crate::syscall::{self, LO_FLAGS_AUTOCLEAR, LO_FLAGS_DIRECT_IO, LO_FLAGS_READ_ONLY};
use crate::{Error, MountReadahead, path_of_open};

/// Unit of a loop device's size, and of the kernel's counters.
const SECTOR_BYTES: u64 = 512;
const PAGE_BYTES: u64 = 4096;

/// Others may take the free device first, and udev may be late to make its node.
const ATTACH_TRIES: u32 = 100;
const ATTACH_PAUSE: Duration = Duration::from_millis(10);

/// A read-only loop device; detached on drop, or with its last user.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
    sysfs: PathBuf,
    file: File,
    device_number: (u32, u32),
    direct_io: bool,
    /// What the readahead was before it was first set.
    former_readahead_kib: OnceLock<u64>,
}

/// What a block device has read since it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Reads completed.
    pub reads: u64,
    /// Bytes of these reads.
    pub read_bytes: u64,
}

impl LoopDevice {
    /// Puts an image file behind a free loop device, read-only.
    ///
    /// * `direct_io`: past the page cache of the image file, so that each read reaches the disk.
    ///   Some file systems refuse it: ask [`LoopDevice::direct_io`] what was got.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] without root or loop devices; [`Error::PartialSector`] for an image that the
    /// device could not show whole.
    pub fn attach(image: &Path, direct_io: bool) -> Result<Self, Error> {
        Self::attach_at(image, 0, direct_io)
    }

    /// The same of an image that begins inside a file, as in an AppImage, and ends with it.
    ///
    /// * `start_byte`: direct I/O works only from the beginning of a sector on.
    ///
    /// # Errors
    ///
    /// Those of [`LoopDevice::attach`].
    pub fn attach_at(image: &Path, start_byte: u64, direct_io: bool) -> Result<Self, Error> {
        let backing = open_image(image, direct_io).map_err(Error::io("open", image))?;
        let metadata = backing.metadata().map_err(Error::io("look at", image))?;
        let size_bytes = metadata.size().saturating_sub(start_byte);
        if size_bytes % SECTOR_BYTES != 0 {
            return Err(Error::PartialSector {
                path: image.to_owned(),
                size_bytes,
            });
        }
        let control_path = Path::new("/dev/loop-control");
        let control = OpenOptions::new().read(true).write(true).open(control_path);
        let control = control.map_err(Error::io("open", control_path))?;
        let flags = LO_FLAGS_READ_ONLY
            | LO_FLAGS_AUTOCLEAR
            | if direct_io { LO_FLAGS_DIRECT_IO } else { 0 };

        let mut tries = ATTACH_TRIES;
        let (file, path) = loop {
            let number = syscall::loop_find_free(control.as_fd())
                .map_err(Error::io("find a free loop device with", control_path))?;
            let path = PathBuf::from(format!("/dev/loop{number}"));
            let answer = File::open(&path).and_then(|file| {
                syscall::loop_configure(file.as_fd(), backing.as_fd(), start_byte, flags)?;
                Ok(file)
            });
            match answer {
                Ok(file) => break (file, path),
                Err(error) if tries > 0 && is_race(&error) => tries -= 1,
                Err(error) => return Err(Error::io("attach the image to", &path)(error)),
            }
            sleep(ATTACH_PAUSE);
        };
        let got = syscall::loop_flags(file.as_fd()).map_err(Error::io("ask", &path))?;
        let metadata = file.metadata().map_err(Error::io("look at", &path))?;
        let (major, minor) = (
            rustix::fs::major(metadata.rdev()),
            rustix::fs::minor(metadata.rdev()),
        );
        Ok(Self {
            sysfs: PathBuf::from(format!("/sys/dev/block/{major}:{minor}")),
            path,
            file,
            device_number: (major, minor),
            direct_io: got & LO_FLAGS_DIRECT_IO != 0,
            former_readahead_kib: OnceLock::new(),
        })
    }

    /// How far the kernel reads ahead in a loop device whose file lies in a directory, in KiB, as it
    /// sets it by itself: from Linux 6.17 on 2560 if the disk below counts as one that rotates,
    /// which sticks do as well, else mostly 128.
    ///
    /// # Errors
    ///
    /// As [`LoopDevice::attach`]; [`Error::Io`] if no file can be made there.
    pub fn default_readahead_kib(directory: &Path) -> Result<u64, Error> {
        let file = OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_TMPFILE)
            .open(directory);
        let file = file.map_err(Error::io("make a file in", directory))?;
        let grown = file.set_len(PAGE_BYTES);
        grown.map_err(Error::io("write to a file in", directory))?;
        Self::attach(&path_of_open(&file), false)?.readahead_kib()
    }

    /// Its node in `/dev`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Major and minor number.
    pub fn device_number(&self) -> (u32, u32) {
        self.device_number
    }

    /// Whether it reads past the page cache of the image file.
    pub fn direct_io(&self) -> bool {
        self.direct_io
    }

    /// The device itself, for [`crate::resident_pages`].
    pub fn file(&self) -> &File {
        &self.file
    }

    /// What it has read since it exists, before this image too: take differences.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Malformed`] if the kernel's counters cannot be read.
    pub fn counters(&self) -> Result<Counters, Error> {
        let path = self.sysfs.join("stat");
        let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        parse_counters(&text).ok_or(Error::Malformed {
            path,
            start_byte: 0,
            rule: "the counters are at least three decimal numbers",
        })
    }

    /// How far the kernel reads ahead in it, in KiB.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Malformed`] if the kernel's setting cannot be read.
    pub fn readahead_kib(&self) -> Result<u64, Error> {
        self.readahead()?.kib()
    }

    /// Sets how far the kernel reads ahead in it, in KiB, until it is dropped.
    ///
    /// A fresh loop device has 128, one whose limits were set anew up to 4096, which made the
    /// same start read 144 instead of 121 MB: runs that are compared need the same value.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] without root.
    pub fn set_readahead_kib(&self, readahead_kib: u64) -> Result<(), Error> {
        let setting = self.readahead()?;
        let former_kib = setting.kib()?;
        setting.set_kib(readahead_kib)?;
        self.former_readahead_kib.get_or_init(|| former_kib);
        Ok(())
    }

    fn readahead(&self) -> Result<MountReadahead, Error> {
        MountReadahead::of_device(self.device_number.0, self.device_number.1)
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // A drop cannot report, and the kernel detaches the device with its last user anyway.
        if let Some(&former_kib) = self.former_readahead_kib.get() {
            let _ = self.set_readahead_kib(former_kib);
        }
        let _ = syscall::loop_detach(self.file.as_fd());
    }
}

/// Opened for direct I/O, because the kernel then gives the loop device the block size that
/// direct I/O on this file needs; without where the file system has none (old tmpfs).
fn open_image(image: &Path, direct_io: bool) -> io::Result<File> {
    if direct_io {
        let direct = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECT)
            .open(image);
        match direct {
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {}
            answer => return answer,
        }
    }
    File::open(image)
}

fn is_race(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::BUSY, Errno::NOENT, Errno::NXIO, Errno::AGAIN]
        .iter()
        .any(|errno| code == Some(errno.raw_os_error()))
}

/// Fields 1 and 3 of `/sys/block/DEVICE/stat` (Documentation/block/stat.rst).
fn parse_counters(text: &str) -> Option<Counters> {
    let mut fields = text.split_ascii_whitespace().map(str::parse::<u64>);
    let reads = fields.next()?.ok()?;
    fields.next()?.ok()?;
    let sectors = fields.next()?.ok()?;
    Some(Counters {
        reads,
        read_bytes: sectors.checked_mul(SECTOR_BYTES)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_fields_one_and_three() {
        let text = "     385        7     8192       93        0        0        0        0\n";
        let expected = Counters {
            reads: 385,
            read_bytes: 8192 * 512,
        };
        assert_eq!(parse_counters(text), Some(expected));
        for text in ["", "1 2", "1 x 3", "1 2 -3", "1 2 18446744073709551615"] {
            assert_eq!(parse_counters(text), None, "{text}");
        }
    }
}
