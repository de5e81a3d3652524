//! Xattr tables and pairs.

use std::mem::offset_of;

use coldpress_format::{RawXattrId, RawXattrTable};

use super::{rewritten, stored, words};
use crate::case::Case;
use crate::image::Structure;
use crate::packing::Packing;

/// Counts of sets that are 0, negative elsewhere, or more than the table has.
pub fn xattr_tables() -> Vec<Case> {
    let image = stored();
    let start = image
        .superblock
        .xattr_table_start
        .expect("the sample has xattrs");
    let header = usize::try_from(start).expect("it is in memory");
    let at = header + offset_of!(RawXattrTable, count);
    let short = "xattr table at byte";
    let mut cases = words(
        "number of xattr sets",
        &image,
        at,
        &[
            (0, "xattr id count is 0"),
            (1 << 31, short),
            (u32::MAX, short),
        ],
    );
    for start in [0, 95, start, start + 1, 1 << 63, u64::MAX] {
        let what = format!("xattr pairs at {start:#x}");
        let bytes = image.with(header, &start.to_le_bytes());
        cases.push(Case::new(what, bytes, "xattr pairs start is"));
    }
    cases
}

/// Sets that begin outside of the pairs, or claim other counts of them.
pub fn xattr_indexes() -> Vec<Case> {
    let image = stored();
    let at = image.start_of(Structure::XattrIds) + 2;
    let field = at + offset_of!(RawXattrId, count);
    let lies = "xattr table at byte";
    let counts = [
        (0, "xattr count is 0"),
        (3, lies),
        (1 << 31, lies),
        (u32::MAX, lies),
    ];
    let mut cases = words("number of pairs", &image, field, &counts);
    for (place, says) in [
        (8192, "at byte"),
        (65_535, "at byte"),
        (1 << 16, "at byte"),
        (1 << 63, "at byte"),
        (u64::MAX, "at byte"),
    ] {
        let bytes = image.with(at, &u64::to_le_bytes(place));
        cases.push(Case::new(format!("pairs at {place:#x}"), bytes, says));
    }
    cases
}

/// Pairs with impossible prefixes, names and values, and references that lead in circles.
pub fn xattr_pairs() -> Vec<Case> {
    // `user.one`: kind at 0, name size at 2, value size at 7, value at 11. `user.two`: kind at 16,
    // name size at 18, size of the reference at 23, the reference at 27.
    let changes: [(&str, usize, &[u8], &str); 14] = [
        ("a prefix of no number", 0, &[9, 0], "xattr prefix"),
        ("a name of no bytes", 2, &[0, 0], "a name is empty"),
        (
            "a name of 65535 bytes",
            2,
            &[0xff, 0xff],
            "xattr table at byte",
        ),
        ("a value of 4 GiB", 7, &[0xff; 4], "xattr value size is"),
        (
            "a value of 65537 bytes",
            7,
            &[1, 0, 1, 0],
            "xattr value size is",
        ),
        (
            "a value of 65536 bytes",
            7,
            &[0, 0, 1, 0],
            "xattr table at byte",
        ),
        (
            "a reference of 9 bytes",
            23,
            &[9],
            "size of a value's reference is",
        ),
        (
            "a reference of no bytes",
            23,
            &[0],
            "size of a value's reference is",
        ),
        (
            "a reference behind its block",
            27,
            &[0xff, 0xff],
            "xattr table at byte",
        ),
        (
            "a reference behind the table",
            27,
            &[0; 8],
            "xattr value size is",
        ),
        ("a reference outside", 27, &[0xff; 8], "at byte"),
        ("a reference to itself", 27, &[27, 0], "xattr table at byte"),
        // The size and the reference of the second pair are read as a value of 8 bytes.
        ("a reference to a reference", 27, &[23, 0], ""),
        ("a zero byte in a name", 4, &[0], "a name is empty"),
    ];
    let cases = changes.into_iter().map(|(what, at, bytes, says)| {
        let image = rewritten(Packing::STORED, |tables| {
            tables.pairs[at..at + bytes.len()].copy_from_slice(bytes);
        });
        Case::new(what, image.bytes, says)
    });
    let many = rewritten(Packing::STORED, |tables| shared_value(tables, 4000));
    cases
        .chain([Case::any("4000 names of one value of 60 KiB", many.bytes)])
        .collect()
}

/// Makes one set of `count` pairs that share a value of 60 KiB: 240 MiB for 100 KiB.
fn shared_value(tables: &mut crate::tables::Tables, count: u32) {
    const VALUE_BYTES: u32 = 60 << 10;
    let mut pairs = vec![0, 0, 1, 0, b'v'];
    pairs.extend_from_slice(&VALUE_BYTES.to_le_bytes());
    pairs.resize(pairs.len() + VALUE_BYTES as usize, 7);
    for number in 1..count {
        pairs.extend_from_slice(&[0, 1, 4, 0]);
        pairs.extend_from_slice(format!("{number:04}").as_bytes());
        pairs.extend_from_slice(&[8, 0, 0, 0]);
        pairs.extend_from_slice(&5_u64.to_le_bytes());
    }
    tables.pairs = pairs;
    tables.xattr_ids[8..12].copy_from_slice(&count.to_le_bytes());
}
