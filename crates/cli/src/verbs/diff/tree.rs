//! Differences of trees as lines.

use std::fmt::Display;

use coldpress_format::InodeKind;
use coldpress_image::{Contrast, Side, TreeDifference};
use coldpress_report::text::{escaped, iso_utc};

use super::Row;

/// A difference of two images.
pub(super) fn row(difference: TreeDifference) -> Row {
    let name = escaped(&difference.path);
    match difference.what {
        Contrast::OnlyIn(side) => only_in(name, side),
        Contrast::Type(one, other) => both(name, "type", kind(one), kind(other)),
        Contrast::Mode(one, other) => {
            both(name, "mode", format!("{one:04o}"), format!("{other:04o}"))
        }
        Contrast::Owner(one, other) => both(name, "owner", one, other),
        Contrast::Group(one, other) => both(name, "group", one, other),
        Contrast::Time(one, other) => both(name, "modified", iso_utc(one), iso_utc(other)),
        Contrast::Device(one, other) => {
            let number = |(major, minor): (u32, u32)| format!("{major}:{minor}");
            both(name, "device number", number(one), number(other))
        }
        Contrast::Target(one, other) => both(name, "target", escaped(&one), escaped(&other)),
        Contrast::Xattrs(names) => {
            let names: Vec<String> = names.iter().map(|name| escaped(name)).collect();
            one(name, "other xattrs", names.join(" "))
        }
        Contrast::HardLink => bare(name, "linked to other names"),
        Contrast::Length(one, other) => both(name, "length in bytes", one, other),
        Contrast::Content(offset) => one(name, "other content from byte", offset),
        _ => bare(name, "differs"),
    }
}

pub(super) fn only_in(name: String, side: Side) -> Row {
    let what = match side {
        Side::Left => "only in the first",
        Side::Right => "only in the second",
    };
    bare(name, what)
}

/// A row without values.
pub(super) fn bare(name: String, what: &'static str) -> Row {
    Row {
        name,
        what,
        first: None,
        second: None,
    }
}

/// A row with a value that is neither of the first nor of the second alone.
pub(super) fn one(name: String, what: &'static str, value: impl Display) -> Row {
    Row {
        first: Some(value.to_string()),
        ..bare(name, what)
    }
}

/// A row with the values of both.
pub(super) fn both(
    name: String,
    what: &'static str,
    first: impl Display,
    second: impl Display,
) -> Row {
    Row {
        first: Some(first.to_string()),
        second: Some(second.to_string()),
        ..bare(name, what)
    }
}

fn kind(kind: InodeKind) -> &'static str {
    match kind {
        InodeKind::Directory => "directory",
        InodeKind::File => "file",
        InodeKind::Symlink => "symlink",
        InodeKind::BlockDevice => "block device",
        InodeKind::CharDevice => "character device",
        InodeKind::Fifo => "fifo",
        InodeKind::Socket => "socket",
    }
}
