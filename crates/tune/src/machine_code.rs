//! The machine code of a source, for the filters of xz.

use coldpress_codec::{Choices, Filter};
use coldpress_layout::NodeId;
use coldpress_writer::Source;

/// Bytes of an ELF file up to the machine that it is for.
const BEGINNING_BYTES: usize = 20;
const MAGIC: &[u8] = b"\x7fELF";
/// Where the byte order and the machine are named, and by which byte order is little-endian.
const ORDER_BYTE: usize = 5;
const MACHINE_BYTES: std::ops::Range<usize> = 18..20;
const LITTLE_ENDIAN: u8 = 1;

/// The filters for the instructions that most bytes of a source's programs and libraries belong to;
/// none if there are no such files, or xz has no filter for them.
///
/// # Cost
///
/// Reads the beginning of every file.
pub fn filters(source: &Source) -> Choices<Filter> {
    let nodes = (0..).map(NodeId).take(source.tree.nodes.len());
    let files = nodes.filter_map(|node| {
        let size_bytes = source.tree.file_size(node)?;
        let beginning = source.beginning(node, BEGINNING_BYTES).ok()?;
        Some((filters_of(&beginning)?, size_bytes))
    });
    let mut sums: Vec<(&[Filter], u64)> = Vec::new();
    for (filters, size_bytes) in files {
        match sums.iter_mut().find(|(known, _)| *known == filters) {
            Some((_, sum_bytes)) => *sum_bytes += size_bytes,
            None => sums.push((filters, size_bytes)),
        }
    }
    let most = sums.into_iter().max_by_key(|(_, sum_bytes)| *sum_bytes);
    let filters = most.map_or(&[][..], |(filters, _)| filters);
    filters.iter().copied().collect()
}

/// The filters for the machine that a file is for; `None` of what is no ELF file.
///
/// The numbers are those of `elf.h`. PowerPC has one for its big-endian instructions only; Arm has
/// two kinds of them, and programs of today's systems have both.
fn filters_of(beginning: &[u8]) -> Option<&'static [Filter]> {
    if !beginning.starts_with(MAGIC) {
        return None;
    }
    let is_little = *beginning.get(ORDER_BYTE)? == LITTLE_ENDIAN;
    let mut machine: [u8; 2] = beginning.get(MACHINE_BYTES)?.try_into().ok()?;
    if !is_little {
        machine.reverse();
    }
    Some(match u16::from_le_bytes(machine) {
        3 | 62 => &[Filter::X86],
        20 | 21 if !is_little => &[Filter::PowerPc],
        50 => &[Filter::Ia64],
        40 => &[Filter::Arm, Filter::ArmThumb],
        2 | 18 | 43 => &[Filter::Sparc],
        183 => &[Filter::Arm64],
        243 => &[Filter::RiscV],
        _ => &[],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_names_its_machine() {
        let beginning = |order: u8, machine: [u8; 2]| {
            let mut bytes = vec![0; 64];
            bytes[..4].copy_from_slice(MAGIC);
            bytes[ORDER_BYTE] = order;
            bytes[MACHINE_BYTES].copy_from_slice(&machine);
            bytes
        };
        for (bytes, expected) in [
            (beginning(1, [62, 0]), Some(&[Filter::X86][..])),
            (beginning(1, [183, 0]), Some(&[Filter::Arm64])),
            (
                beginning(1, [40, 0]),
                Some(&[Filter::Arm, Filter::ArmThumb]),
            ),
            (beginning(2, [0, 21]), Some(&[Filter::PowerPc])),
            (beginning(1, [21, 0]), Some(&[])),
            (beginning(2, [0, 22]), Some(&[])),
            (b"#!/bin/sh\n# a script\n".to_vec(), None),
            (beginning(1, [62, 0])[..19].to_vec(), None),
            (Vec::new(), None),
        ] {
            assert_eq!(filters_of(&bytes), expected, "{bytes:?}");
        }
    }
}
