//! Metadata blocks, indexes and the fragment table.

use std::mem::offset_of;

use coldpress_format::RawFragment;

use super::{halves, stored, words};
use crate::case::Case;
use crate::image::Structure;

/// Headers of metadata blocks that claim nothing, too much, or compression.
pub fn metadata_headers() -> Vec<Case> {
    let image = stored();
    let size = "metadata block at byte";
    let mut cases = Vec::new();
    for (what, structure) in [
        ("inode", Structure::Inodes),
        ("directory", Structure::Listings),
        ("id", Structure::Ids),
        ("fragment", Structure::Fragments),
        ("xattr", Structure::Pairs),
    ] {
        let at = image.start_of(structure);
        let field = format!("header of the {what} table");
        let values = [0, 0x8000, 0x2001, 0xa001, 0x7fff, 0xffff].map(|word| (word, size));
        cases.extend(halves(&field, &image, at, &values));
        // The stored bytes are no stream, and a block of one byte holds no record.
        let values = [(0x0010, size), (0x8001, "at byte")];
        cases.extend(halves(&field, &image, at, &values));
    }
    cases
}

/// Indexes that lead outside, backwards, or leave a gap.
pub fn indexes() -> Vec<Case> {
    let image = stored();
    let tables = [
        ("fragment", image.superblock.fragment_table_start),
        ("export", image.superblock.export_table_start),
        ("id", Some(image.superblock.id_table_start)),
    ];
    let mut cases = Vec::new();
    for (what, start) in tables {
        let at = usize::try_from(start.expect("the sample has it")).expect("it is in memory");
        let index = at as u64;
        for value in [0, 95, index, index + 1, index - 8195, 1 << 63, u64::MAX] {
            cases.push(Case::new(
                format!("index of the {what} table {value:#x}"),
                image.with(at, &value.to_le_bytes()),
                "position of a metadata block is",
            ));
        }
    }
    cases
}

/// Fragment blocks of no, of negative and of too great length, and outside the data area.
pub fn fragment_tables() -> Vec<Case> {
    let image = stored();
    let at = image.start_of(Structure::Fragments) + 2;
    let size = "fragment table at byte";
    let field = at + offset_of!(RawFragment, size);
    let mut cases = words(
        "size of a fragment block",
        &image,
        field,
        &[
            (0, size),
            (1 << 24, size),
            (0x1001, size),
            (0x0100_1001, size),
            (1 << 25, size),
            (1 << 31, size),
            (u32::MAX, size),
            (0x0100_0001, "fragment block at byte"),
            (0x64, "fragment block at byte"),
        ],
    );
    let field = at + offset_of!(RawFragment, start);
    let inodes = image.superblock.inode_table_start;
    for start in [0, 95, inodes - 1, inodes, 1 << 63, u64::MAX] {
        cases.push(Case::new(
            format!("fragment block at {start:#x}"),
            image.with(field, &start.to_le_bytes()),
            "fragment block at byte",
        ));
    }
    let field = at + offset_of!(RawFragment, unused);
    let bytes = image.with(field, &u32::MAX.to_le_bytes());
    cases.push(Case::any("unused bytes of the fragment table", bytes));
    cases
}
