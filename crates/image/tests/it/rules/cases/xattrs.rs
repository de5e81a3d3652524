//! Xattrs.

use coldpress_image::Severity::{Error, Notice};

use super::{Case, WORD, case, pair, xattr_id};
use crate::defects::changed;

pub(super) const ALL: &[Case] = &[
    case("prefix of an xattr", Error, "xattr prefix 9", || {
        pair(0, &[9])
    }),
    case("name of an xattr", Error, "a name is empty", || {
        pair(2, &[0])
    }),
    case("size of a value", Error, "xattr value size", || {
        pair(7, &WORD)
    }),
    case(
        "value elsewhere",
        Error,
        "size of a value's reference",
        || pair(23, &[9]),
    ),
    case("count of a set", Error, "xattr count", || {
        xattr_id(8, &[0, 0, 0, 0])
    }),
    case(
        "size of a set",
        Notice,
        "size of a set of xattrs is 99",
        || xattr_id(4, &[99]),
    ),
    case(
        "names of a set",
        Notice,
        "names that a set of xattrs has twice",
        || pair(20, b"one"),
    ),
    case("every set is used", Notice, "inodes with this set", || {
        changed(|nodes| nodes[7].inode.xattr = None).bytes
    }),
];
