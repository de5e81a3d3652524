//! Regular files as entries of an archive that is put together from bytes, not from an image.

use std::io::{self, Write};

use coldpress_format::DeviceNumber;

use super::header::{BLOCK_BYTES, EntryKind, Header, Records, end};

/// Writes a regular file of root as an entry of a tar archive.
///
/// * `name`: its path in the archive.
/// * `mode`: the 12 permission bits.
/// * `mtime_s`: its modification time, seconds since 1970.
///
/// # Errors
///
/// Those of `output`.
pub fn write_tar_file(
    output: &mut impl Write,
    name: &[u8],
    mode: u16,
    mtime_s: u32,
    content: &[u8],
) -> io::Result<()> {
    let header = Header {
        name: name.to_vec(),
        kind: EntryKind::File,
        mode,
        uid: 0,
        gid: 0,
        size_bytes: content.len() as u64,
        mtime_s,
        target: Vec::new(),
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
