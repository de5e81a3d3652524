//! Superblocks that lie.

use std::mem::offset_of;

use coldpress_format::RawSuperblock;

use super::{halves, stored, words};
use crate::case::Case;

/// Block logs and block sizes that a shift or a queue length takes too far.
pub fn block_sizes() -> Vec<Case> {
    let image = stored();
    let log = "block log is";
    let size = "block size (a power of two) is";
    let logs = [
        (0, log),
        (11, log),
        (13, log),
        (21, log),
        (31, log),
        (63, log),
        (65_535, log),
    ];
    let sizes = [
        (0, size),
        (1, size),
        (2048, size),
        (4097, size),
        (8192, log),
        (1 << 21, size),
        (1 << 31, size),
        (u32::MAX, size),
    ];
    let at = offset_of!(RawSuperblock, block_log);
    let mut cases = halves("block log", &image, at, &logs);
    let at = offset_of!(RawSuperblock, block_size);
    cases.extend(words("block size", &image, at, &sizes));
    cases
}

/// Counts of inodes, fragment blocks and ids that no table can hold.
pub fn counts() -> Vec<Case> {
    let image = stored();
    let fragments = "fragment count is";
    let inodes = "inode count is";
    let at = offset_of!(RawSuperblock, fragment_count);
    let mut cases = words(
        "fragment count",
        &image,
        at,
        &[
            (0x0fff_ffff, fragments),
            (u32::MAX, fragments),
            (9, fragments),
            (8, "fragment table at byte"),
            (0, "fragment index is 0"),
        ],
    );
    let at = offset_of!(RawSuperblock, inode_count);
    let outside = "export table at byte";
    cases.extend(words(
        "inode count",
        &image,
        at,
        &[
            (u32::MAX, inodes),
            (u32::MAX - 1, outside),
            (1 << 31, outside),
            (2000, outside),
            (9, "inode count is 9, must be 8"),
            (7, "inode number is 8, must be 1 to 7"),
            (0, inodes),
        ],
    ));
    let at = offset_of!(RawSuperblock, id_count);
    cases.extend(halves(
        "id count",
        &image,
        at,
        &[
            (0, "id count is 0"),
            (2, "id table at byte"),
            (u16::MAX, "id table at byte"),
        ],
    ));
    cases
}

/// Every position of the superblock at the edges of the image and of its type.
///
/// Some of them happen to be legal, so nothing is said of what `check` tells.
pub fn positions() -> Vec<Case> {
    let image = stored();
    let used = image.superblock.bytes_used;
    let values = [
        0,
        95,
        used - 1,
        used,
        used + 1,
        1 << 63,
        u64::MAX - 1,
        u64::MAX,
    ];
    let fields = [
        ("bytes used", offset_of!(RawSuperblock, bytes_used)),
        ("id table", offset_of!(RawSuperblock, id_table_start)),
        ("xattr table", offset_of!(RawSuperblock, xattr_table_start)),
        ("inode table", offset_of!(RawSuperblock, inode_table_start)),
        (
            "directory table",
            offset_of!(RawSuperblock, directory_table_start),
        ),
        (
            "fragment table",
            offset_of!(RawSuperblock, fragment_table_start),
        ),
        (
            "export table",
            offset_of!(RawSuperblock, export_table_start),
        ),
    ];
    let cases = fields.iter().flat_map(|(field, at)| {
        let image = &image;
        values.iter().map(move |value| {
            let what = format!("{field} at {value:#x}");
            Case::any(what, image.with(*at, &value.to_le_bytes()))
        })
    });
    cases.collect()
}

/// Root inodes behind their metadata block or outside the inode table, or that are none.
pub fn root_references() -> Vec<Case> {
    let image = stored();
    let at = offset_of!(RawSuperblock, root_inode);
    let file = image.inode_at[super::FILE] - image.inode_at[super::ROOT];
    let file = u64::try_from(file).expect("it is in memory");
    let offset = "inode offset is";
    let inside = "offset in the metadata block is";
    let outside = "metadata block at byte";
    let cases = [
        (8192, offset),
        (8193, offset),
        (40_000, offset),
        (65_535, offset),
        (8191, inside),
        (5000, inside),
        (1 << 16, outside),
        (0xffff_ffff_0000, outside),
        (1 << 48, "inode block start is"),
        (u64::MAX, "inode block start is"),
        (file, "type of the root inode is 2"),
        (file + 1, "inode"),
    ];
    let case = |(value, says): (u64, _)| {
        let what = format!("root inode {value:#x}");
        Case::new(what, image.with(at, &value.to_le_bytes()), says)
    };
    cases.into_iter().map(case).collect()
}

/// Other magics, as those of big-endian and streamed images, and the versions 1 to 3.
pub fn versions() -> Vec<Case> {
    let image = stored();
    let at = offset_of!(RawSuperblock, magic);
    let magics = [b"sqsh", b"qshs", b"shsq", b"SQSH", b"HSQS", b"\0\0\0\0"];
    let magic = |bytes: &[u8; 4]| {
        let what = format!("magic `{}`", bytes.escape_ascii());
        Case::new(what, image.with(at, bytes), "magic is")
    };
    let mut cases: Vec<_> = magics.iter().map(|bytes| magic(bytes)).collect();
    let (major, minor) = ("major version is", "minor version is");
    let at = offset_of!(RawSuperblock, version_major);
    let values = [0, 1, 2, 3, 5, u16::MAX].map(|value| (value, major));
    cases.extend(halves("major version", &image, at, &values));
    let at = offset_of!(RawSuperblock, version_minor);
    cases.extend(halves(
        "minor version",
        &image,
        at,
        &[(1, minor), (u16::MAX, minor)],
    ));
    cases
}

/// Images that were cut off at, before and behind each structure.
pub fn truncations() -> Vec<Case> {
    let image = stored();
    let starts = image.structures.iter().map(|stored| stored.at.start);
    let used = image.superblock.bytes_used;
    let end = usize::try_from(used).expect("it is in memory");
    let cuts = starts.flat_map(|start| [start.saturating_sub(1), start, start + 1]);
    let cuts = cuts.chain([end - 1]).filter(|cut| *cut < end);
    let case = |cut: usize| {
        let what = format!("cut after {cut} bytes");
        Case::new(
            what,
            image.bytes[..cut].to_vec(),
            "superblock at byte 0: needs",
        )
    };
    cuts.map(case).collect()
}

/// Image files whose size is no multiple of a sector or of a page.
pub fn image_sizes() -> Vec<Case> {
    let image = stored();
    let used = usize::try_from(image.superblock.bytes_used).expect("it is in memory");
    let sectors = used.next_multiple_of(512);
    let hidden = "size of the image file";
    let case = |(len, says): (usize, _)| {
        let mut bytes = image.bytes.clone();
        bytes.resize(len, 0);
        Case::new(format!("a file of {len} bytes"), bytes, says)
    };
    [
        (used, hidden),
        (sectors - 1, hidden),
        (sectors, ""),
        (sectors + 1, ""),
    ]
    .into_iter()
    .map(case)
    .collect()
}
