//! What is known of one file of an image.

use std::collections::BTreeMap;

use coldpress_format::{Body, InodeKind};
use coldpress_image::Image;
use serde::Serialize;

use crate::image_path::Found;
use crate::text::{base_name, hex};

/// A file, as `--json` prints it.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    /// The path; bytes that are not UTF-8 are replaced.
    path: String,
    /// The path in hexadecimal, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes_hex: Option<String>,
    r#type: &'static str,
    /// Permissions, in octal: `0755`.
    mode: String,
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Bytes of a file's content, of a link's target, of a directory's listing.
    pub(super) size: u64,
    /// Seconds since 1970.
    pub(super) mtime: u32,
    pub(super) links: u32,
    inode: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_bytes_hex: Option<String>,
    /// Major and minor number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) device: Option<(u32, u32)>,
    /// Values by name, in hexadecimal.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    xattrs: BTreeMap<String, String>,
    #[serde(skip)]
    pub(super) path_bytes: Vec<u8>,
    #[serde(skip)]
    pub(super) target_bytes: Option<Vec<u8>>,
    #[serde(skip)]
    pub(super) mode_bits: u16,
    /// The type as `ls -l` shows it.
    #[serde(skip)]
    pub(super) letter: char,
}

impl Row {
    /// All that the image says of a file.
    ///
    /// # Errors
    ///
    /// If its owners or xattrs cannot be read.
    pub(super) fn new(image: &Image, found: &Found) -> Result<Self, coldpress_image::Error> {
        let Found { path, inode, .. } = found;
        let (uid, gid) = image.owner(inode)?;
        let xattrs = image.xattrs(inode)?;
        let (letter, r#type) = names(inode.body.kind());
        let (size, target_bytes, device) = match &inode.body {
            Body::Directory(directory) => (directory.listing_bytes.into(), None, None),
            Body::File(file) => (file.size_bytes, None, None),
            Body::Symlink(target) => (target.len() as u64, Some(target.clone()), None),
            Body::BlockDevice(number) | Body::CharDevice(number) => {
                (0, None, Some((number.major, number.minor)))
            }
            Body::Fifo | Body::Socket => (0, None, None),
        };
        Ok(Self {
            path: lossy(path),
            path_bytes_hex: hex_unless_utf8(path),
            r#type,
            mode: format!("{:04o}", inode.mode),
            uid,
            gid,
            size,
            mtime: inode.mtime_s,
            links: inode.link_count,
            inode: inode.number,
            target: target_bytes.as_deref().map(lossy),
            target_bytes_hex: target_bytes.as_deref().and_then(hex_unless_utf8),
            device,
            xattrs: xattrs
                .iter()
                .map(|(name, value)| (lossy(name), hex(value)))
                .collect(),
            path_bytes: path.clone(),
            target_bytes,
            mode_bits: inode.mode,
            letter,
        })
    }

    /// The last component of the path.
    pub(super) fn name(&self) -> &[u8] {
        base_name(&self.path_bytes)
    }
}

const fn names(kind: InodeKind) -> (char, &'static str) {
    match kind {
        InodeKind::Directory => ('d', "directory"),
        InodeKind::File => ('-', "file"),
        InodeKind::Symlink => ('l', "symlink"),
        InodeKind::BlockDevice => ('b', "block-device"),
        InodeKind::CharDevice => ('c', "char-device"),
        InodeKind::Fifo => ('p', "fifo"),
        InodeKind::Socket => ('s', "socket"),
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn hex_unless_utf8(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).is_err().then(|| hex(bytes))
}
