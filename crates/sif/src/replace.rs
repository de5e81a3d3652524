//! Another file system in the place of the one that is started.

use std::ops::Range;

use crate::check::check;
use crate::descriptor::{DESCRIPTOR_BYTES, Descriptor, FileSystem, Kind, Role};
use crate::error::Error;
use crate::field::put;
use crate::header::{HEADER_BYTES, Header};

/// What follows moves by a multiple of this, and so keeps its alignment.
const ALIGNMENT_BYTES: u64 = 4096;
/// Where the header states free descriptors and the bytes of all objects.
const FREE_AT: usize = 80;
const DATA_BYTES_AT: usize = 120;
/// Where a descriptor states the place of its object, its size, and that with padding.
const START_AT: usize = 17;
const SIZE_AT: usize = 25;
const PADDED_AT: usize = 33;

/// How a container becomes one with another file system. All bytes that are not named here stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The header.
    pub header: [u8; HEADER_BYTES],
    /// Byte at which the table is.
    pub table_start: u64,
    /// The descriptors.
    pub table: Vec<u8>,
    /// What comes after the file system, as bytes of the old file.
    pub moved: Range<u64>,
    /// Where that is to be.
    pub moved_to: u64,
    /// Bytes of the new file that become zeros: signatures that other objects follow.
    pub cleared: Vec<Range<u64>>,
    /// Bytes of the new file.
    pub file_bytes: u64,
}

/// The system of SquashFS that is started, if there is one.
pub fn system(descriptors: &[Descriptor]) -> Option<&Descriptor> {
    descriptors.iter().find(|descriptor| {
        descriptor.partition().is_some_and(|partition| {
            partition.role == Role::PrimarySystem && partition.file_system == FileSystem::SquashFs
        })
    })
}

/// The signatures that cover an object, alone or with its group.
pub fn signatures<'a>(
    descriptors: &'a [Descriptor],
    object: &'a Descriptor,
) -> impl Iterator<Item = &'a Descriptor> {
    let signatures = descriptors.iter().filter(|it| it.kind == Kind::Signature);
    signatures.filter(|it| it.link == object.id || it.links_to_group(object.group))
}

/// Puts a file system of another size into the place of the one that is started, and drops the
/// signatures of that.
///
/// Objects before it stay where they are. Those after it move together, as little as keeps them
/// aligned. Times stay, so that the same file system gives the same container.
///
/// * `start`: the first [`HEADER_BYTES`] of the file.
/// * `table`: the bytes that [`Header::table`] names.
/// * `new_bytes`: the size of the new file system, with padding.
///
/// # Errors
///
/// As [`check`]; `None` if no system of SquashFS is started.
pub fn replace(
    start: &[u8; HEADER_BYTES],
    table: &[u8],
    file_bytes: u64,
    new_bytes: u64,
) -> Result<Option<Replacement>, Error> {
    let Some(header) = Header::parse(start)? else {
        return Ok(None);
    };
    let descriptors = check(&header, table, file_bytes)?;
    let Some(system) = system(&descriptors) else {
        return Ok(None);
    };
    let dropped: Vec<&Descriptor> = signatures(&descriptors, system).collect();
    let old_end = end(system);
    let new_end = system.start.saturating_add(new_bytes);
    let is_after = |it: &&Descriptor| it.start >= old_end && it.id != system.id;
    let after = descriptors.iter().filter(is_after);
    let after: Vec<&Descriptor> = after.filter(|it| !dropped.contains(it)).collect();
    let first = after.iter().map(|it| it.start).min();
    let moved = first.map_or(old_end..old_end, |first| {
        first..after.iter().map(|it| end(it)).max().unwrap_or(first)
    });
    let padding_bytes = first.map_or(0, |first| {
        (first % ALIGNMENT_BYTES + ALIGNMENT_BYTES - new_end % ALIGNMENT_BYTES) % ALIGNMENT_BYTES
    });
    let moved_to = new_end.saturating_add(padding_bytes);
    let place = |it: &Descriptor| match it.start {
        start if start < old_end => start,
        start => start - moved.start + moved_to,
    };
    let mut table = table.to_vec();
    for record in table.chunks_exact_mut(DESCRIPTOR_BYTES) {
        let Some(it) = Descriptor::parse(record) else {
            continue;
        };
        if dropped.contains(&&it) {
            record.fill(0);
        } else if it.id == system.id {
            let padding_bytes = it.padded_bytes.saturating_sub(it.size_bytes);
            let padded_bytes = padding_bytes.saturating_add(new_bytes);
            put(record, SIZE_AT, &new_bytes.to_le_bytes());
            put(record, PADDED_AT, &padded_bytes.to_le_bytes());
        } else if it.start >= old_end {
            put(record, START_AT, &place(&it).to_le_bytes());
            if Some(it.start) == first {
                let padded_bytes = padding_bytes.saturating_add(it.size_bytes);
                put(record, PADDED_AT, &padded_bytes.to_le_bytes());
            }
        }
    }
    let file_bytes = moved_to.saturating_add(moved.end - moved.start);
    let covered = |it: &&&Descriptor| it.start < system.start || moved.contains(&it.start);
    let cleared = dropped.iter().filter(covered);
    let cleared = cleared.map(|it| place(it)..place(it).saturating_add(it.size_bytes));
    let mut new_header = *start;
    let free = header.free_descriptors + dropped.len() as u64;
    put(&mut new_header, FREE_AT, &free.to_le_bytes());
    let data_bytes = file_bytes.saturating_sub(header.data_start);
    put(&mut new_header, DATA_BYTES_AT, &data_bytes.to_le_bytes());
    Ok(Some(Replacement {
        header: new_header,
        table_start: header.table_start,
        table,
        cleared: cleared.collect(),
        moved,
        moved_to,
        file_bytes,
    }))
}

/// The byte after an object, which is in the file.
fn end(object: &Descriptor) -> u64 {
    object.end().unwrap_or(object.start)
}
