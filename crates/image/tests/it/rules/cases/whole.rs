//! The superblock, the compressor options and the end of the image.

use coldpress_image::Severity::{Error, Notice};

use super::{Case, at, case, end, options, stored};
use crate::defects::patched;
use crate::handmade::Handmade;

pub(super) const ALL: &[Case] = &[
    case("magic and version", Error, "magic is", || patched(0, b"x")),
    case("magic and version", Error, "major version is", || {
        patched(28, &[3])
    }),
    case("magic and version", Error, "minor version is", || {
        patched(30, &[1])
    }),
    case("block size and its logarithm", Error, "block size", || {
        patched(12, &[1])
    }),
    case(
        "block size and its logarithm",
        Error,
        "block log is",
        || patched(22, &[13]),
    ),
    case("number of the compressor", Error, "compressor 7", || {
        patched(20, &[7])
    }),
    case(
        "order of the tables",
        Error,
        "directory table start",
        || patched(72, &[96, 0]),
    ),
    case(
        "counts of inodes, ids, fragment blocks",
        Error,
        "inode count",
        || patched(4, &[0]),
    ),
    case(
        "counts of inodes, ids, fragment blocks",
        Error,
        "id count",
        || patched(26, &[0]),
    ),
    case(
        "counts of inodes, ids, fragment blocks",
        Error,
        "fragment count",
        || patched(16, &[9]),
    ),
    case(
        "counts of inodes, ids, fragment blocks",
        Error,
        "inode count is 9, must be 8",
        || patched(4, &[9]),
    ),
    case(
        "reference of the root",
        Error,
        "type of the root inode",
        || {
            let at = stored().inode_at;
            let offset = u16::try_from(at[4] - at[0]).unwrap();
            patched(32, &offset.to_le_bytes())
        },
    ),
    case(
        "the file holds the image",
        Error,
        "bytes, 9000 are there",
        || stored().bytes[..9000].to_vec(),
    ),
    case(
        "whole sectors",
        Error,
        "a loop device would hide the end",
        || {
            let Handmade {
                bytes, superblock, ..
            } = stored();
            bytes[..at(superblock.bytes_used)].to_vec()
        },
    ),
    case(
        "zeros after the image",
        Notice,
        "bytes that are not zero",
        || end(b"x"),
    ),
    case(
        "nothing after the zeros",
        Notice,
        "padding at byte 12288: nothing refers to 5",
        || [stored().bytes, b"12345".to_vec()].concat(),
    ),
    case("flags", Notice, "flags without a meaning is 4", || {
        patched(24, &[0x84])
    }),
    case("flags", Notice, "flag exportable", || patched(24, &[0])),
    case("flags", Notice, "flag no-fragments", || {
        patched(24, &[0x90])
    }),
    case("flag no-xattrs", Error, "flag no-xattrs", || {
        patched(25, &[2])
    }),
    case(
        "options are stored and legal",
        Error,
        "metadata block at byte 96",
        || options(1, &[8, 0]),
    ),
    case(
        "options are stored and legal",
        Error,
        "gzip level is 99",
        || options(1, &[8, 0x80, 99, 0, 0, 0, 15, 0, 0, 0]),
    ),
    case(
        "lz4 has options",
        Error,
        "the kernel wants them for lz4",
        || patched(20, &[5]),
    ),
    case(
        "options that mean something",
        Notice,
        "without a meaning",
        || options(5, &[8, 0x80, 1, 0, 0, 0, 2, 0, 0, 0]),
    ),
    case(
        "options that mean something",
        Notice,
        "bytes of options is 12",
        || options(5, &[12, 0x80, 1, 0, 0, 0, 1, 0, 0, 0, 7, 7, 7, 7]),
    ),
    case(
        "options that mean something",
        Notice,
        "xz dictionary size",
        || options(4, &[8, 0x80, 0, 0, 16, 0, 0, 0, 0, 0]),
    ),
    case(
        "options that mean something",
        Notice,
        "unknown filters is 256",
        || options(4, &[8, 0x80, 0, 32, 0, 0, 0, 1, 0, 0]),
    ),
    case(
        "options that mean something",
        Notice,
        "unknown strategies is 32",
        || options(1, &[8, 0x80, 9, 0, 0, 0, 15, 0, 32, 0]),
    ),
    case(
        "options that mean something",
        Notice,
        "without levels is 3",
        || options(3, &[8, 0x80, 1, 0, 0, 0, 3, 0, 0, 0]),
    ),
];
