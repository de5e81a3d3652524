//! `SquashFS` images that are mounted, by the kernel or in user space.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::mountinfo::unescaped;

/// File systems that are `SquashFS`.
const KINDS: [&[u8]; 4] = [
    b"squashfs",
    b"fuse.coldpress",
    b"fuse.squashfuse",
    b"fuse.squashfuse_ll",
];

/// A mount of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SquashfsMount {
    /// Where it is mounted.
    pub root: PathBuf,
    /// The image file, as far as the kernel knows it; else the device.
    pub image: PathBuf,
    /// Major and minor number that its files have.
    pub device_number: (u32, u32),
}

impl SquashfsMount {
    /// All that this process sees.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if `/proc` is not there.
    pub fn all() -> Result<Vec<Self>, Error> {
        let path = Path::new("/proc/self/mountinfo");
        let mounts = fs::read(path).map_err(Error::io("read", path))?;
        let mut all: Vec<Self> = mounts
            .split(|byte| *byte == b'\n')
            .filter_map(parse)
            .collect();
        for mount in &mut all {
            let (major, minor) = mount.device_number;
            let of_loop = format!("/sys/dev/block/{major}:{minor}/loop/backing_file");
            if let Ok(mut image) = fs::read(of_loop) {
                image.pop_if(|byte| *byte == b'\n');
                mount.image = PathBuf::from(OsString::from_vec(image));
            }
        }
        Ok(all)
    }
}

/// A line of `/proc/PID/mountinfo` (`proc_pid_mountinfo(5)`), if it is of a SquashFS.
fn parse(line: &[u8]) -> Option<SquashfsMount> {
    let mut words = line.split(|byte| *byte == b' ');
    let number = std::str::from_utf8(words.nth(2)?).ok()?;
    let (major, minor) = number.split_once(':')?;
    let root = words.nth(1)?;
    let kind = words
        .find(|word| *word == b"-")
        .and_then(|_| words.next())?;
    let source = words.next()?;
    KINDS.contains(&kind).then_some(SquashfsMount {
        root: unescaped(root),
        image: unescaped(source),
        device_number: (major.parse().ok()?, minor.parse().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_squashfs_are_mounts() {
        let found = |line: &str| {
            let mount = parse(line.as_bytes())?;
            let [root, image] = [mount.root, mount.image].map(|it| it.display().to_string());
            Some((root, image, mount.device_number))
        };
        let mount =
            |root: &str, image: &str, number| Some((root.to_owned(), image.to_owned(), number));
        for (line, expected) in [
            (
                "36 35 7:3 / /mnt/a\\040b ro,relatime shared:1 master:2 - squashfs /dev/loop3 ro",
                mount("/mnt/a b", "/dev/loop3", (7, 3)),
            ),
            (
                "36 35 0:50 / /m ro - fuse.coldpress /x/a\\134040.sqfs ro,user_id=0",
                mount("/m", "/x/a\\040.sqfs", (0, 50)),
            ),
            ("36 35 8:1 / / rw shared:1 - ext4 /dev/sda1 rw", None),
            ("36 35 7:3 / /mnt ro squashfs", None),
            ("36 35 7 / /mnt ro - squashfs /dev/loop3 ro", None),
            ("", None),
        ] {
            assert_eq!(found(line), expected, "{line}");
        }
    }
}
