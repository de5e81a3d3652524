//! Runs, sizes and places of listings, and their indexes.

use std::mem::offset_of;

use coldpress_format::{
    Body, IndexEntry, RawDirectory, RawDirectoryEntry, RawDirectoryHeader, RawExtendedDirectory,
    RawInodeHeader,
};

use super::{DIR, ROOT, changed, halves, stored, words};
use crate::case::Case;

const RECORD: usize = size_of::<RawInodeHeader>();

/// Runs that claim more entries than their listing has, or than a run may have.
pub fn run_counts() -> Vec<Case> {
    let image = stored();
    let at = image.listing_at + offset_of!(RawDirectoryHeader, count);
    let (cut, over) = ("directory entry at byte", "entry count less 1 is");
    let mut cases = words(
        "entries of a run less 1",
        &image,
        at,
        &[
            (255, cut),
            (5, cut),
            (256, over),
            (u32::MAX, over),
            (0, "directory"),
        ],
    );
    let at = image.listing_at + size_of::<RawDirectoryHeader>();
    let kind = at + offset_of!(RawDirectoryEntry, kind);
    let other = [0, 8, 14, u16::MAX].map(|kind| (kind, "type is"));
    cases.extend(halves("type of an entry", &image, kind, &other));
    let wrong = [(2, "inode type (an entry says another) is 1")];
    cases.extend(halves("type of an entry", &image, kind, &wrong));
    let delta = at + offset_of!(RawDirectoryEntry, number_delta);
    let number = "inode number (an entry says another) is";
    cases.extend(halves(
        "number of an entry",
        &image,
        delta,
        &[(0x8000, number), (7, number)],
    ));
    let offset = at + offset_of!(RawDirectoryEntry, inode_offset);
    cases.extend(halves(
        "inode of an entry",
        &image,
        offset,
        &[
            (8192, "inode offset is"),
            (u16::MAX, "inode offset is"),
            (8191, "offset in the metadata block is"),
        ],
    ));
    cases
}

/// Directory sizes beyond the table and below the least.
pub fn listing_sizes() -> Vec<Case> {
    let image = stored();
    let at = image.inode_at[DIR] + RECORD + offset_of!(RawDirectory, size);
    let cut = "directory entry at byte";
    halves(
        "size of a directory",
        &image,
        at,
        &[
            (u16::MAX, "directory"),
            (0x7fff, "directory"),
            (0, "directory size is"),
            (2, "directory size is"),
            (4, cut),
        ],
    )
}

/// Listings that begin outside of their block or table.
pub fn listing_places() -> Vec<Case> {
    let image = stored();
    let record = image.inode_at[DIR] + RECORD;
    let at = record + offset_of!(RawDirectory, offset);
    let mut cases = halves(
        "offset of a listing",
        &image,
        at,
        &[
            (8192, "listing offset is"),
            (u16::MAX, "listing offset is"),
            (8191, "offset in the metadata block is"),
        ],
    );
    let at = record + offset_of!(RawDirectory, block_start);
    let outside = "metadata block at byte";
    let starts = [(u32::MAX, outside), (1 << 31, outside), (1, outside)];
    cases.extend(words("start of a listing", &image, at, &starts));
    cases
}

/// Indexes of more entries than the inode has, and that lead elsewhere.
pub fn directory_indexes() -> Vec<Case> {
    let index = |listing_offset, block_start, name: &[u8]| {
        changed(|model| {
            if let Body::Directory(directory) = &mut model.nodes[ROOT].inode.body {
                directory.index.push(IndexEntry {
                    listing_offset,
                    block_start,
                    name: name.to_vec(),
                });
            }
        })
    };
    let image = index(0, 0, b"dir");
    let record = image.inode_at[ROOT] + RECORD;
    let at = record + offset_of!(RawExtendedDirectory, index_count);
    let count = [(u16::MAX, "name size is"), (2, "name size is")];
    let mut cases = halves("entries of an index", &image, at, &count);
    let name_size = record + size_of::<RawExtendedDirectory>() + 8;
    let size = "name size is";
    let sizes = [(u32::MAX, size), (256, size)];
    cases.extend(words(
        "name size of an index entry",
        &image,
        name_size,
        &sizes,
    ));
    for (image, says) in [
        (
            index(u32::MAX, 0, b"dir"),
            "listing offset of an index entry is",
        ),
        (index(3, 0, b"dir"), "listing offset of an index entry is"),
        (
            index(0, 0, b"a"),
            "run that begins with an index entry's name is",
        ),
        (
            index(0, u32::MAX, b"dir"),
            "block start of an index entry is",
        ),
        (index(0, 0, b"dir"), ""),
    ] {
        cases.push(Case::new("an index", image.bytes, says));
    }
    cases
}
