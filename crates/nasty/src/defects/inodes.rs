//! Inodes that lie.

use std::mem::offset_of;

use coldpress_format::{Body, RawFile, RawInodeHeader, RawSymlink};

use super::{DIR, FIFO, FILE, LINK, SPARSE, SUB, TAIL, changed, halves, stored, words};
use crate::case::Case;

const RECORD: usize = size_of::<RawInodeHeader>();

/// Inode numbers of 0, over the count, and given twice.
pub fn inode_numbers() -> Vec<Case> {
    let image = stored();
    let at = image.inode_at[FIFO] + offset_of!(RawInodeHeader, number);
    let range = "inode number is";
    let mut cases = words(
        "inode number",
        &image,
        at,
        &[
            (0, range),
            (9, "inode number (an entry says another) is 9"),
            (u32::MAX, "inode number (an entry says another) is"),
        ],
    );
    for (number, says) in [
        (9, "inode number is 9, must be 1 to 8"),
        (u32::MAX, "inode number is"),
        (6, "another inode has the same number"),
    ] {
        let image = changed(|model| model.nodes[FIFO].inode.number = number);
        let what = format!("inode and entry of number {number}");
        cases.push(Case::new(what, image.bytes, says));
    }
    cases
}

/// Lengths of files that are negative elsewhere, or have fewer blocks than they need.
pub fn file_sizes() -> Vec<Case> {
    let image = stored();
    let at = image.inode_at[FILE] + RECORD + offset_of!(RawFile, size);
    let mut cases = words(
        "size of a file",
        &image,
        at,
        &[
            (u32::MAX, "inode at byte"),
            (1 << 31, "inode at byte"),
            (0, "length of the tail end is 0"),
        ],
    );
    for size_bytes in [1 << 63, u64::MAX, i64::MAX.unsigned_abs(), 1 << 62, 1 << 40] {
        let image = changed(|model| {
            // A link count of 2 makes an extended inode, whose size has 64 bits.
            model.nodes[SPARSE].inode.link_count = 2;
            if let Body::File(file) = &mut model.nodes[SPARSE].inode.body {
                file.size_bytes = size_bytes;
            }
        });
        let what = format!("a file of {size_bytes:#x} bytes");
        cases.push(Case::new(what, image.bytes, "inode at byte"));
    }
    for sparse_bytes in [u64::MAX, 1 << 63] {
        let image = changed(|model| {
            if let Body::File(file) = &mut model.nodes[SPARSE].inode.body {
                file.sparse_bytes = sparse_bytes;
            }
        });
        let what = format!("{sparse_bytes:#x} sparse bytes");
        cases.push(Case::new(what, image.bytes, "sparse bytes is"));
    }
    cases
}

/// Targets of symlinks that are empty, longer than the table, or than a page.
pub fn targets() -> Vec<Case> {
    let image = stored();
    let at = image.inode_at[LINK] + RECORD + offset_of!(RawSymlink, target_size);
    let size = "symlink target size is";
    let mut cases = words(
        "size of a target",
        &image,
        at,
        &[
            (0, size),
            (65_535, "inode at byte"),
            (65_536, size),
            (1 << 31, size),
            (u32::MAX, size),
        ],
    );
    // Linux looks up no target of a page or more; other systems do.
    for len in [4095, 4096, 65_535] {
        let image = changed(|model| {
            model.nodes[LINK].inode.body = Body::Symlink(vec![b't'; len]);
        });
        cases.push(Case::any(format!("a target of {len} bytes"), image.bytes));
    }
    let image = stored();
    let target = image.inode_at[LINK] + RECORD + size_of::<RawSymlink>();
    let bytes = image.with(target + 3, &[0]);
    cases.push(Case::new(
        "a zero byte in a target",
        bytes,
        "a symlink target holds a zero byte",
    ));
    cases
}

/// Directories with another parent than the one that holds them.
pub fn parents() -> Vec<Case> {
    let cases = [0, 5, 9, u32::MAX].into_iter().map(|parent| {
        let image = changed(|model| {
            if let Body::Directory(directory) = &mut model.nodes[SUB].inode.body {
                directory.parent = parent;
            }
        });
        let what = format!("parent {parent}");
        Case::new(what, image.bytes, "parent's inode number is")
    });
    cases.collect()
}

/// Modes with bits of a type, and types that are none.
pub fn modes_and_types() -> Vec<Case> {
    let image = stored();
    let at = image.inode_at[FIFO];
    let kinds = [0, 15, 0x100, u16::MAX].map(|kind| (kind, "inode type is"));
    let mut cases = halves(
        "inode type",
        &image,
        at + offset_of!(RawInodeHeader, kind),
        &kinds,
    );
    let other = [1, 2, 3, 7, 8, 9, 13].map(|kind| (kind, "/fifo"));
    cases.extend(halves(
        "inode type",
        &image,
        at + offset_of!(RawInodeHeader, kind),
        &other,
    ));
    let at = at + offset_of!(RawInodeHeader, mode);
    cases.extend(halves("mode", &image, at, &[(0o7777, ""), (0o4755, "")]));
    // Bits of a type in a mode: Linux refuses them from 6.18 on.
    for mode in [0o170_777_u16, u16::MAX] {
        let bytes = image.with(at, &mode.to_le_bytes());
        cases.push(Case::any(format!("mode {mode:#o}"), bytes));
    }
    cases
}

/// Owners, xattrs and counts of links that no table has.
pub fn owners() -> Vec<Case> {
    let image = stored();
    let at = image.inode_at[FIFO];
    let field = at + offset_of!(RawInodeHeader, uid_index);
    let index = [1, u16::MAX].map(|index| (index, "owner index is"));
    let mut cases = halves("owner index", &image, field, &index);
    let field = at + offset_of!(RawInodeHeader, gid_index);
    let index = [1, u16::MAX].map(|index| (index, "group index is"));
    cases.extend(halves("group index", &image, field, &index));
    let links = [0, 2, u32::MAX].map(|count| (count, "link count is"));
    cases.extend(words("link count", &image, at + RECORD, &links));
    let directory = image.inode_at[DIR] + RECORD + 4;
    cases.extend(words(
        "link count of a directory",
        &image,
        directory,
        &links[..1],
    ));
    for set in [1, u32::MAX - 1] {
        let image = changed(|model| model.nodes[TAIL].inode.xattr = Some(set));
        let what = format!("xattr index {set}");
        cases.push(Case::new(what, image.bytes, "xattr index is"));
    }
    cases
}
