//! Entries of an archive that is put together from bytes, not from an image.

use std::io::{self, Write};

use coldpress_format::DeviceNumber;

use super::header::{BLOCK_BYTES, EntryKind, Header, Records, end};

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainEntry<'a> {
    /// A regular file with this content.
    File(&'a [u8]),
    /// A directory.
    Directory,
    /// A symbolic link to this target.
    Link(&'a [u8]),
}

/// Writes an entry of a tar archive that belongs to root.
///
/// * `name`: its path in the archive.
/// * `mode`: the 12 permission bits.
/// * `mtime_s`: its modification time, seconds since 1970.
///
/// # Errors
///
/// Those of `output`.
pub fn write_tar_entry(
    output: &mut impl Write,
    name: &[u8],
    mode: u16,
    mtime_s: u32,
    entry: PlainEntry<'_>,
) -> io::Result<()> {
    let (kind, content, target): (_, &[u8], &[u8]) = match entry {
        PlainEntry::File(content) => (EntryKind::File, content, b""),
        PlainEntry::Directory => (EntryKind::Directory, b"", b""),
        PlainEntry::Link(target) => (EntryKind::Symlink, b"", target),
    };
    let header = Header {
        name: name.to_vec(),
        kind,
        mode,
        uid: 0,
        gid: 0,
        size_bytes: content.len() as u64,
        mtime_s,
        target: target.to_vec(),
        device: DeviceNumber { major: 0, minor: 0 },
        records: Records::default(),
    };
    let mut block = Vec::new();
    header.write(&mut block);
    output.write_all(&block)?;
    output.write_all(content)?;
    let padding = content.len().next_multiple_of(BLOCK_BYTES) - content.len();
    output.write_all(&[0; BLOCK_BYTES][..padding])
}

/// Writes the end of a tar archive.
///
/// # Errors
///
/// Those of `output`.
pub fn write_tar_end(output: &mut impl Write) -> io::Result<()> {
    output.write_all(&end())
}
