//! Whether what a container says can be true.

use std::collections::BTreeSet;

use crate::descriptor::{DESCRIPTOR_BYTES, Descriptor, Role};
use crate::error::{Error, Rule};
use crate::header::{HEADER_BYTES, Header};

/// Reads the descriptors, and checks that each object is in the file and on nothing else.
///
/// * `table`: the bytes that [`Header::table`] names.
///
/// # Errors
///
/// The first [`Error`]; [`Descriptor::parse`] reads what there is nevertheless.
///
/// # Cost
///
/// Memory of some hundred bytes for each descriptor, of which at most 4096 are read.
pub fn check(header: &Header, table: &[u8], file_bytes: u64) -> Result<Vec<Descriptor>, Error> {
    let records = table.chunks_exact(DESCRIPTOR_BYTES);
    let room = records.len() as u64;
    if header.descriptors != room {
        let rule = Rule::Descriptors {
            found: header.descriptors,
            table_start: header.table_start,
            room,
        };
        return Err(Error::header(88, rule));
    }
    let expected = room * DESCRIPTOR_BYTES as u64;
    if header.table_bytes != expected {
        let rule = Rule::TableBytes {
            count: room,
            found: header.table_bytes,
            expected,
        };
        return Err(Error::header(104, rule));
    }
    let descriptors = records.map(Descriptor::parse).zip(0..);
    let descriptors: Vec<(u64, Descriptor)> = descriptors
        .filter_map(|(descriptor, index)| Some((index, descriptor?)))
        .collect();
    let free = room - descriptors.len() as u64;
    if header.free_descriptors != free {
        let rule = Rule::Free {
            found: header.free_descriptors,
            expected: free,
        };
        return Err(Error::header(80, rule));
    }
    let located = |index: u64, rule| Error {
        part: format!("descriptor {}", index + 1),
        start: header.table_start + index * DESCRIPTOR_BYTES as u64,
        rule,
    };
    places(header, &descriptors, file_bytes).map_err(|(index, rule)| located(index, rule))?;
    numbers(&descriptors).map_err(|(index, rule)| located(index, rule))?;
    Ok(descriptors.into_iter().map(|(_, it)| it).collect())
}

/// Where objects lie, the header and the table among them.
fn places(
    header: &Header,
    descriptors: &[(u64, Descriptor)],
    file_bytes: u64,
) -> Result<(), (u64, Rule)> {
    let table_end = header.table_start.saturating_add(header.table_bytes);
    // First byte, end, the descriptor if it is an object.
    let mut taken = vec![
        (0, HEADER_BYTES as u64, None),
        (header.table_start, table_end, None),
    ];
    for (index, descriptor) in descriptors {
        let (place, size_bytes) = (descriptor.start, descriptor.size_bytes);
        let Some(end) = descriptor.end().filter(|end| *end <= file_bytes) else {
            let rule = Rule::Outside {
                place,
                size_bytes,
                file_bytes,
            };
            return Err((*index, rule));
        };
        if place < end {
            taken.push((place, end, Some(*index)));
        }
    }
    taken.sort_unstable();
    for pair in taken.windows(2) {
        let [(first_start, first_end, first), (start, end, second)] = *pair else {
            continue;
        };
        if start >= first_end {
            continue;
        }
        // What is told is the object; what it lies on may be the header or the table.
        let told = match (first, second) {
            (_, Some(index)) => Some((index, start, end, first)),
            (Some(index), None) => Some((index, first_start, first_end, None)),
            (None, None) => None,
        };
        let Some((index, place, end, other)) = told else {
            continue;
        };
        let other = other.map_or_else(
            || "the header or the table".to_owned(),
            |other| format!("the object of descriptor {}", other + 1),
        );
        let rule = Rule::Overlap {
            place,
            size_bytes: end - place,
            other,
        };
        return Err((index, rule));
    }
    Ok(())
}

/// What there may be once.
fn numbers(descriptors: &[(u64, Descriptor)]) -> Result<(), (u64, Rule)> {
    let mut ids = BTreeSet::new();
    let mut has_system = false;
    for (index, descriptor) in descriptors {
        let id = descriptor.id;
        if !ids.insert(id) {
            return Err((*index, Rule::SameId { id }));
        }
        let partition = descriptor.partition();
        let is_system = partition.is_some_and(|it| it.role == Role::PrimarySystem);
        if is_system && has_system {
            return Err((*index, Rule::SecondSystem));
        }
        has_system |= is_system;
    }
    Ok(())
}
