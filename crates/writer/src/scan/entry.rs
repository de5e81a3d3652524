//! One entry of a directory, as the file system has it.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::Arc;

use coldpress_format::DeviceNumber;
use coldpress_layout::{Kind, Node};

use super::xattrs;
use crate::disk::Found;
use crate::error::{self, Error};
use crate::gather::SourceOptions;
use crate::held::{Held, Identity};
use crate::warning::Warning;

/// The kernel refuses to follow a symlink whose target does not fit a page.
pub(crate) const TARGET_MAX_BYTES: usize = 4095;

/// What is behind a name.
pub(super) struct Entry {
    pub(super) node: Node,
    pub(super) is_directory: bool,
    /// What is kept of a regular file that is not empty.
    pub(super) found: Option<Found>,
    pub(super) identity: Identity,
    /// Whether it has several names.
    pub(super) is_linked: bool,
    pub(super) warnings: Vec<Warning>,
}

impl Entry {
    /// Reads what the metadata of a file does not tell.
    pub(super) fn new(path: &Path, held: &Held, options: &SourceOptions) -> Result<Self, Error> {
        let metadata = &held.metadata;
        let mut warnings = Vec::new();
        let xattrs = if options.xattrs {
            xattrs::read(path, held, &options.overrides.xattrs, &mut warnings)?
        } else {
            Vec::new()
        };
        let is_directory = metadata.is_dir();
        let node = Node {
            kind: kind(path, held)?,
            mode: u16::try_from(metadata.mode() & 0o7777).unwrap_or(0),
            uid: metadata.uid(),
            gid: metadata.gid(),
            mtime_s: time(path, metadata.mtime(), options, &mut warnings),
            xattrs: Arc::new(xattrs),
        };
        let has_content = metadata.is_file() && metadata.len() > 0;
        Ok(Self {
            node,
            is_directory,
            found: has_content.then(|| Found::new(metadata)),
            identity: held.identity(),
            is_linked: metadata.nlink() > 1 && !is_directory,
            warnings,
        })
    }
}

/// A modification time as the image will have it.
pub(crate) fn time(
    path: &Path,
    found_s: i64,
    options: &SourceOptions,
    warnings: &mut Vec<Warning>,
) -> u32 {
    let time_s = u32::try_from(found_s).unwrap_or_else(|_| {
        let path = path.to_path_buf();
        warnings.push(Warning::Time { path, found_s });
        if found_s < 0 { 0 } else { u32::MAX }
    });
    let latest_s = options.latest_time_s.unwrap_or(u32::MAX);
    time_s.min(latest_s)
}

fn kind(path: &Path, held: &Held) -> Result<Kind, Error> {
    let metadata = &held.metadata;
    let file_type = metadata.file_type();
    Ok(if file_type.is_dir() {
        let entries = Vec::new();
        Kind::Directory { entries }
    } else if file_type.is_file() {
        let size_bytes = metadata.len();
        Kind::File { size_bytes }
    } else if file_type.is_symlink() {
        symlink(path, held)?
    } else if file_type.is_fifo() {
        Kind::Fifo
    } else if file_type.is_socket() {
        Kind::Socket
    } else {
        device(path, metadata)?
    })
}

fn symlink(path: &Path, held: &Held) -> Result<Kind, Error> {
    let mut target = held.target().map_err(error::source("read", path))?;
    if target.len() > TARGET_MAX_BYTES {
        let path = path.to_path_buf();
        let rule = "its target is over 4095 bytes, which the kernel refuses to follow";
        return Err(Error::Unstorable { path, rule });
    }
    target.shrink_to_fit();
    Ok(Kind::Symlink { target })
}

fn device(path: &Path, metadata: &Metadata) -> Result<Kind, Error> {
    let number = metadata.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    if (DeviceNumber { major, minor }).encode().is_none() {
        let path = path.to_path_buf();
        let rule = "its device number is over 4095 (major) or 1048575 (minor)";
        return Err(Error::Unstorable { path, rule });
    }
    Ok(if metadata.file_type().is_block_device() {
        Kind::BlockDevice { major, minor }
    } else {
        Kind::CharDevice { major, minor }
    })
}
