//! The inode table.

use coldpress_format::Body;
use coldpress_image::Severity::{Error, Notice};

use super::{Case, case, file, inode, tail};
use crate::defects::changed;
use crate::handmade::directory;

pub(super) const ALL: &[Case] = &[
    case("type of an inode", Error, "inode type", || {
        inode(4, 0, &[15])
    }),
    case(
        "mode",
        Error,
        "mode (the kernel ors the type into it)",
        || inode(4, 3, &[0x81]),
    ),
    case("owners", Error, "owner index is 1", || inode(4, 4, &[1])),
    case("owners", Error, "group index is 1", || inode(4, 6, &[1])),
    case("inode number", Error, "inode number is 0", || {
        inode(4, 12, &[0])
    }),
    case("inode number", Error, "must be 1 to 8", || {
        changed(|nodes| nodes[4].inode.number = 100).bytes
    }),
    case(
        "inode number",
        Error,
        "another inode has the same number",
        || changed(|nodes| nodes[4].inode.number = 6).bytes,
    ),
    case(
        "extended form",
        Notice,
        "which needs the extended form",
        || {
            // The last index that there is means none.
            changed(|nodes| nodes[7].inode.xattr = Some(u32::MAX)).bytes
        },
    ),
    case("link count", Error, "link count is 2, must be 1", || {
        changed(|nodes| nodes[4].inode.link_count = 2).bytes
    }),
    case(
        "link count of a directory",
        Error,
        "link count is 9",
        || changed(|nodes| nodes[3].inode.link_count = 9).bytes,
    ),
    case(
        "parent of a directory",
        Error,
        "parent's inode number is 5",
        || changed(|nodes| nodes[3] = directory(4, 5, &[])).bytes,
    ),
    case(
        "one parent, no loops",
        Error,
        "the directory is reached twice",
        || changed(|nodes| nodes[3].entries = vec![(b"x".to_vec(), 1)]).bytes,
    ),
    case("size of a directory", Error, "directory size", || {
        inode(1, 24, &[2, 0])
    }),
    case("place of a listing", Error, "listing offset", || {
        inode(1, 26, &[0, 0x20])
    }),
    case("place of a listing", Error, "position in the image", || {
        inode(1, 16, &[0xff, 0xff])
    }),
    case("length of a file", Error, "file size", || {
        changed(|nodes| {
            nodes[6].inode.link_count = 2;
            if let Body::File(file) = &mut nodes[6].inode.body {
                file.size_bytes = 1 << 63;
            }
        })
        .bytes
    }),
    case("words of a block list", Error, "block size on disk", || {
        inode(2, 35, &[2])
    }),
    case(
        "sparse bytes",
        Error,
        "sparse bytes is 90000, must be",
        || file(6, |file| file.sparse_bytes = 90_000),
    ),
    case(
        "sparse bytes as sparse blocks say",
        Notice,
        "sparse bytes is 10000, usually",
        || file(6, |file| file.sparse_bytes = 10_000),
    ),
    case(
        "data in the data area",
        Error,
        "data block at byte 95",
        || file(2, |file| file.start = 95),
    ),
    case(
        "index of a fragment block",
        Error,
        "fragment index is 1",
        || tail(1, 50),
    ),
    case(
        "no tail end of no bytes",
        Error,
        "length of the tail end is 0",
        || file(7, |file| file.size_bytes = 0),
    ),
    case(
        "tail ends lie in their fragment block",
        Error,
        "needs 101 bytes, 100 are there",
        || tail(0, 51),
    ),
    case("target of a symlink", Error, "symlink target size", || {
        inode(5, 20, &[0])
    }),
    case(
        "target of a symlink",
        Error,
        "a symlink target holds a zero byte",
        || inode(5, 24, &[0]),
    ),
    case(
        "target of a symlink",
        Error,
        "the kernel follows no more",
        || changed(|nodes| nodes[5].inode.body = Body::Symlink(vec![b'x'; 4096])).bytes,
    ),
    case(
        "index of a set of xattrs",
        Error,
        "xattr index is 1",
        || changed(|nodes| nodes[7].inode.xattr = Some(1)).bytes,
    ),
    case(
        "every inode has a name",
        Notice,
        "no directory names inode 5",
        || changed(|nodes| drop(nodes[0].entries.remove(1))).bytes,
    ),
    case(
        "every byte belongs to an inode",
        Notice,
        "nothing refers to",
        || {
            // A target that became shorter.
            inode(5, 20, &[4])
        },
    ),
];
