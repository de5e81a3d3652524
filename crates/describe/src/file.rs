//! What is known of one file of an image.

use std::collections::BTreeMap;
use std::sync::Arc;

use coldpress_format::{Body, InodeKind};
use coldpress_image::Image;
use coldpress_image::image_path::Found;
use coldpress_report::text::{base_name, hex};
use serde::Serialize;

/// A file, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct FileFacts {
    /// The path; bytes that are not UTF-8 are replaced.
    path: String,
    /// The path in hexadecimal, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes_hex: Option<String>,
    pub(crate) r#type: &'static str,
    /// Permissions, in octal: `0755`.
    pub(crate) mode: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Bytes of a file's content, of a link's target, of a directory's listing.
    pub(crate) size: u64,
    /// Seconds since 1970.
    pub(crate) mtime: u32,
    pub(crate) links: u32,
    pub(crate) inode: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_bytes_hex: Option<String>,
    /// Major and minor number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) device: Option<(u32, u32)>,
    /// Values by name, in hexadecimal.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    xattrs: BTreeMap<String, String>,
    #[serde(skip)]
    pub(crate) path_bytes: Vec<u8>,
    #[serde(skip)]
    pub(crate) target_bytes: Option<Vec<u8>>,
    #[serde(skip)]
    pub(crate) mode_bits: u16,
    /// The type as `ls -l` shows it.
    #[serde(skip)]
    pub(crate) letter: char,
}

impl FileFacts {
    /// All that the image says of a file.
    ///
    /// * `with_xattrs`: whether they are printed; else they are not read.
    ///
    /// # Errors
    ///
    /// If its owners or xattrs cannot be read.
    pub fn new(
        image: &Image,
        found: &Found,
        with_xattrs: bool,
    ) -> Result<Self, coldpress_image::Error> {
        let Found { path, inode, .. } = found;
        let (uid, gid) = image.owner(inode)?;
        let xattrs = if with_xattrs {
            image.xattrs(inode)?
        } else {
            Arc::default()
        };
        let (letter, r#type) = names(inode.body.kind());
        let (target_bytes, device) = match &inode.body {
            Body::Symlink(target) => (Some(target.clone()), None),
            Body::BlockDevice(number) | Body::CharDevice(number) => {
                (None, Some((number.major, number.minor)))
            }
            _ => (None, None),
        };
        Ok(Self {
            path: lossy(path),
            path_bytes_hex: hex_unless_utf8(path),
            r#type,
            mode: format!("{:04o}", inode.mode),
            uid,
            gid,
            size: size_bytes(&inode.body),
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
    pub(crate) fn name(&self) -> &[u8] {
        base_name(&self.path_bytes)
    }
}

/// The type in a word.
pub(crate) const fn type_name(kind: InodeKind) -> &'static str {
    names(kind).1
}

/// Bytes of a file's content, of a link's target, of a directory's listing.
pub fn size_bytes(body: &Body) -> u64 {
    match body {
        Body::Directory(directory) => directory.listing_bytes.into(),
        Body::File(file) => file.size_bytes,
        Body::Symlink(target) => target.len() as u64,
        _ => 0,
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

pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn hex_unless_utf8(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).is_err().then(|| hex(bytes))
}
