//! How far the kernel reads ahead in the files of a mount.
//!
//! Linux keeps the figure with the device (`struct backing_dev_info`): in
//! `/sys/class/bdi/MAJOR:MINOR/read_ahead_kb` of the mount's device number, for FUSE as well. A
//! partition has that of its disk. Each open file copies it when it is opened.
//!
//! `SquashFS` raises it to four blocks when it mounts, if it is less (Linux 6.18). What is set
//! before the mount can only raise it further; what is set after holds.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::{Error, LoopDevice};

/// The unit in which the kernel can read ahead.
const PAGE_KIB: u64 = 4;
/// 1 GiB. The kernel takes more, and multiplies without looking.
const MAX_KIB: u64 = 1 << 20;

/// How far the kernel is to read ahead in the files of a mount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readahead {
    /// 128 KiB before the mount: the kernel's default, as a stick or a card gets it, which
    /// `SquashFS` raises to four blocks.
    #[default]
    Disk,
    /// Whatever the loop device comes with, which `SquashFS` raises to four blocks.
    Kernel,
    /// So many KiB, set after the mount: a multiple of 4.
    Kib(u64),
}

impl Readahead {
    /// From which one is chosen unless the user says otherwise.
    pub const CHOICES: [Self; 5] = [
        Self::Kib(0),
        Self::Kib(16),
        Self::Kib(128),
        Self::Kib(512),
        Self::Kernel,
    ];

    /// What [`Readahead::Disk`] has before the mount, in KiB.
    pub const DISK_KIB: u64 = 128;

    /// A size in bytes, as KiB.
    ///
    /// # Errors
    ///
    /// A clause with the rule that it breaks.
    pub fn kib_of_bytes(bytes: u64) -> Result<u64, String> {
        let kib = bytes / 1024;
        if !bytes.is_multiple_of(PAGE_KIB * 1024) {
            return Err(format!("{bytes} bytes are not whole pages of 4K"));
        }
        if kib > MAX_KIB {
            return Err(format!("{bytes} bytes are more than 1G"));
        }
        Ok(kib)
    }

    /// Prepares a loop device that is to be mounted. When it is dropped, it has its own value
    /// again.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] without root.
    pub fn before_mount(self, device: &LoopDevice) -> Result<(), Error> {
        device.set_readahead_kib(match self {
            Self::Disk => Self::DISK_KIB,
            // Also of a device that is left as it is, because `SquashFS` raises it and leaves it
            // so.
            Self::Kernel | Self::Kib(_) => device.readahead_kib()?,
        })
    }

    /// Sets what only a mounted device keeps.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] without root.
    pub fn after_mount(self, device: &LoopDevice) -> Result<(), Error> {
        match self {
            Self::Kib(kib) => device.set_readahead_kib(kib),
            Self::Disk | Self::Kernel => Ok(()),
        }
    }
}

/// As it is typed: `kernel`, `16K`, `0`.
impl fmt::Display for Readahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk => f.write_str("disk"),
            Self::Kernel => f.write_str("kernel"),
            Self::Kib(0) => f.write_str("0"),
            Self::Kib(kib) => write!(f, "{kib}K"),
        }
    }
}

/// The setting of a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountReadahead {
    path: PathBuf,
}

impl MountReadahead {
    /// Of what is mounted where a path leads.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the path cannot be read, or its file system has no setting of its own.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let metadata = fs::metadata(path).map_err(Error::io("look at", path))?;
        let device = metadata.dev();
        Self::of_device(rustix::fs::major(device), rustix::fs::minor(device))
    }

    /// Of a device that may be a partition.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it has no such setting.
    pub fn of_device(major: u32, minor: u32) -> Result<Self, Error> {
        let setting =
            |number: &str| PathBuf::from(format!("/sys/class/bdi/{number}/read_ahead_kb"));
        let own = setting(&format!("{major}:{minor}"));
        if own.exists() {
            return Ok(Self { path: own });
        }
        let disk = PathBuf::from(format!("/sys/dev/block/{major}:{minor}/../dev"));
        let number = fs::read_to_string(&disk).map_err(Error::io("read", &own))?;
        Ok(Self {
            path: setting(number.trim_end()),
        })
    }

    /// Where the kernel shows it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The value, in KiB.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Malformed`] if the kernel's setting cannot be read.
    pub fn kib(&self) -> Result<u64, Error> {
        let text = fs::read_to_string(&self.path).map_err(Error::io("read", &self.path))?;
        parse_kib(&text).ok_or_else(|| Error::Malformed {
            path: self.path.clone(),
            start_byte: 0,
            rule: "the readahead is one decimal number",
        })
    }

    /// Sets it until the device gets another or goes. Files that are open keep what they had.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] without root.
    pub fn set_kib(&self, kib: u64) -> Result<(), Error> {
        fs::write(&self.path, kib.to_string()).map_err(Error::io("write to", &self.path))
    }
}

/// The number that a file of sysfs holds.
fn parse_kib(text: &str) -> Option<u64> {
    u64::from_str(text.trim_end()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_pages() {
        for (bytes, expected) in [
            (0, Ok("0")),
            (16 << 10, Ok("16K")),
            (1 << 30, Ok("1048576K")),
            (100, Err("100 bytes are not whole pages of 4K")),
            ((1 << 30) + 4096, Err("1073745920 bytes are more than 1G")),
        ] {
            let found = Readahead::kib_of_bytes(bytes).map(|kib| Readahead::Kib(kib).to_string());
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(found, expected, "{bytes}");
        }
    }

    #[test]
    fn the_kernel_writes_one_number() {
        assert_eq!(parse_kib("2560\n"), Some(2560));
        for text in ["", "12 KiB", "-1", "99999999999999999999"] {
            assert_eq!(parse_kib(text), None, "{text}");
        }
    }
}
