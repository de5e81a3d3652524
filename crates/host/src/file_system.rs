//! Which file system an image holds.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::Error;

/// Enough for the superblocks of all that are known.
const HEAD_BYTES: usize = 2048;

/// The file systems that images are made of and the kernel mounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    /// `SquashFS` 4.
    Squashfs,
    /// EROFS.
    Erofs,
    /// ext2, ext3 or ext4.
    Ext4,
}

impl FileSystem {
    /// Finds out by the magic number in the superblock; `None` for another file system, or none.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the image cannot be read.
    pub fn of(image: &Path) -> Result<Option<Self>, Error> {
        let mut file = File::open(image).map_err(Error::io("open", image))?;
        let mut head = [0; HEAD_BYTES];
        let mut len = 0;
        while let Some(rest) = head.get_mut(len..).filter(|rest| !rest.is_empty()) {
            match file.read(rest) {
                Ok(0) => break,
                Ok(more) => len += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("read", image)(error)),
            }
        }
        Ok(Self::of_head(head.get(..len).unwrap_or_default()))
    }

    fn of_head(head: &[u8]) -> Option<Self> {
        let is_at = |start: usize, magic: &[u8]| {
            head.get(start..)
                .is_some_and(|bytes| bytes.starts_with(magic))
        };
        if is_at(0, b"hsqs") {
            Some(Self::Squashfs)
        } else if is_at(1024, &[0xe2, 0xe1, 0xf5, 0xe0]) {
            Some(Self::Erofs)
        } else if is_at(1024 + 56, &[0x53, 0xef]) {
            Some(Self::Ext4)
        } else {
            None
        }
    }

    /// What the kernel calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Squashfs => "squashfs",
            Self::Erofs => "erofs",
            Self::Ext4 => "ext4",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superblocks_are_told_apart() {
        let head = |start: usize, magic: &[u8]| {
            let mut head = vec![0; 2000];
            head[start..start + magic.len()].copy_from_slice(magic);
            head
        };
        for (head, expected) in [
            (head(0, b"hsqs"), Some(FileSystem::Squashfs)),
            (
                head(1024, &[0xe2, 0xe1, 0xf5, 0xe0]),
                Some(FileSystem::Erofs),
            ),
            (head(1080, &[0x53, 0xef]), Some(FileSystem::Ext4)),
            (head(0, b"sqsh"), None),
            (b"hsq".to_vec(), None),
            (Vec::new(), None),
        ] {
            assert_eq!(FileSystem::of_head(&head), expected);
        }
    }
}
