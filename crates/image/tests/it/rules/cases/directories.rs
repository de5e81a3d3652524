//! The directory table.

use coldpress_image::Severity::{Error, Notice};

use super::{Case, case, listing};
use crate::defects::changed;

pub(super) const ALL: &[Case] = &[
    case("count of a run", Error, "entry count less 1", || {
        listing(0, &[0, 1])
    }),
    case(
        "entries end with the listing",
        Error,
        "directory entry at byte",
        || listing(0, &[9]),
    ),
    case("names", Error, "a name is empty, over 256 bytes", || {
        listing(12 + 8, b"/")
    }),
    case("order of names", Error, "does not sort after", || {
        listing(12 + 8, b"z")
    }),
    case(
        "names that Linux looks up",
        Notice,
        "bytes of a name (Linux",
        || changed(|nodes| nodes[1].entries[0].0 = vec![b'n'; 256]).bytes,
    ),
    case("type of an entry", Error, "type is 8", || {
        listing(12 + 4, &[8])
    }),
    case(
        "type of an entry",
        Error,
        "inode type (an entry says another) is 1",
        || listing(12 + 4, &[2]),
    ),
    case(
        "number of an entry",
        Error,
        "inode number (an entry says another)",
        || listing(12 + 2, &[2]),
    ),
    case(
        "place of an entry's inode",
        Error,
        "offset in the metadata block",
        || listing(12, &[0xff, 0x1f]),
    ),
    case(
        "every byte belongs to a listing",
        Notice,
        "metadata block at byte",
        || {
            // `/dir/sub` had an entry, and is empty again.
            let handmade = changed(|nodes| nodes[3].entries = vec![(b"x".to_vec(), 4)]);
            let mut bytes = handmade.bytes;
            bytes[handmade.inode_at[3] + 24] = 3;
            bytes
        },
    ),
];
