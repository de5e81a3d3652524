//! SIF containers, the images of Singularity and Apptainer: a header, a table of what the file holds, and
//! that.
//!
//! Numbers are little-endian, and no field is aligned. The header tells where the table lies, each of
//! its descriptors where an object does: a partition, the recipe of the container, a signature.

use super::field;
use crate::error::Error;
use crate::source::ReadAt;
use crate::store::read_exact;

const HEADER_BYTES: usize = 128;
/// Where the header says what it is: the magic, and the version of the format.
const MAGIC_AT: std::ops::Range<usize> = 32..45;
const MAGIC: &[u8] = b"SIF_MAGIC\x0001\0";

const DESCRIPTOR_BYTES: usize = 585;
/// The most descriptors that are read. Tables have room for 48 unless someone asked for more.
const DESCRIPTORS_MAX: u64 = 4096;

/// The kind of object that is a file system, the file system that is SquashFS (one that is
/// encrypted is another), and the partition that is run.
const PARTITION: u64 = 0x4004;
const SQUASHFS: u64 = 1;
const PRIMARY_SYSTEM: u64 = 2;

/// Where the table lies.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    start: u64,
    count: u64,
}

/// Reads the header; `None` if the file does not begin with one.
pub(super) fn table(source: &dyn ReadAt, size_bytes: u64) -> Result<Option<Table>, Error> {
    let mut header = [0; HEADER_BYTES];
    if size_bytes < header.len() as u64 {
        return Ok(None);
    }
    read_exact(source, &mut header, 0)?;
    Ok(parse_header(&header, size_bytes))
}

fn parse_header(header: &[u8], size_bytes: u64) -> Option<Table> {
    if header.get(MAGIC_AT)? != MAGIC {
        return None;
    }
    let (count, start) = (field(header, 88, 8)?, field(header, 96, 8)?);
    let room = size_bytes.saturating_sub(start) / DESCRIPTOR_BYTES as u64;
    Some(Table {
        start,
        count: count.min(room).min(DESCRIPTORS_MAX),
    })
}

/// Where the partitions begin that hold SquashFS, the one that is run before the others.
pub(super) fn partitions(source: &dyn ReadAt, table: &Table) -> Result<Vec<u64>, Error> {
    let mut found = Vec::new();
    for number in 0..table.count {
        let mut descriptor = [0; DESCRIPTOR_BYTES];
        let start = table.start + number * DESCRIPTOR_BYTES as u64;
        read_exact(source, &mut descriptor, start)?;
        found.extend(squashfs(&descriptor));
    }
    found.sort_by_key(|(is_primary, _)| !is_primary);
    Ok(found.into_iter().map(|(_, start)| start).collect())
}

/// Whether a partition of SquashFS is the one that is run, and where it begins; `None` for other objects.
fn squashfs(descriptor: &[u8]) -> Option<(bool, u64)> {
    let is_used = field(descriptor, 4, 1)? != 0;
    let is_squashfs =
        field(descriptor, 0, 4)? == PARTITION && field(descriptor, 201, 4)? == SQUASHFS;
    let is_primary = field(descriptor, 205, 4)? == PRIMARY_SYSTEM;
    let start = field(descriptor, 17, 8)?;
    (is_used && is_squashfs).then_some((is_primary, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_no_longer_than_its_file() {
        let mut header = [0; HEADER_BYTES];
        header[MAGIC_AT].copy_from_slice(MAGIC);
        for (count, start, size_bytes, expected) in [
            (48, 4096, 1 << 20, 48),
            (48, 4096, 4096 + 2 * 585 + 584, 2),
            (u64::MAX, 4096, 1 << 30, DESCRIPTORS_MAX),
            (48, u64::MAX, 1 << 20, 0),
        ] {
            header[88..96].copy_from_slice(&count.to_le_bytes());
            header[96..104].copy_from_slice(&start.to_le_bytes());
            let table = parse_header(&header, size_bytes).unwrap();
            assert_eq!((table.start, table.count), (start, expected));
        }
        // A later version may have other fields.
        header[43] = b'2';
        assert_eq!(parse_header(&header, 1 << 20), None);
    }
}
