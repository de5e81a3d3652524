//! Differences of trees as lines.

use std::fmt::Display;

use coldpress_format::InodeKind;
use coldpress_image::{Contrast, Side, TreeDifference};
use coldpress_report::text::{escaped, iso_utc};

use super::DifferenceLine;

impl DifferenceLine {
    /// A difference of two images.
    pub fn of_trees(difference: TreeDifference) -> Self {
        let name = escaped(&difference.path);
        match difference.what {
            Contrast::OnlyIn(side) => Self::only_in(name, side),
            Contrast::Type(one, other) => Self::both(name, "type", kind(one), kind(other)),
            Contrast::Mode(one, other) => {
                Self::both(name, "mode", format!("{one:04o}"), format!("{other:04o}"))
            }
            Contrast::Owner(one, other) => Self::both(name, "owner", one, other),
            Contrast::Group(one, other) => Self::both(name, "group", one, other),
            Contrast::Time(one, other) => {
                Self::both(name, "modified", iso_utc(one), iso_utc(other))
            }
            Contrast::Device(one, other) => {
                let number = |(major, minor): (u32, u32)| format!("{major}:{minor}");
                Self::both(name, "device number", number(one), number(other))
            }
            Contrast::Target(one, other) => {
                Self::both(name, "target", escaped(&one), escaped(&other))
            }
            Contrast::Xattrs(names) => {
                let names: Vec<String> = names.iter().map(|name| escaped(name)).collect();
                Self::one(name, "other xattrs", names.join(" "))
            }
            Contrast::HardLink => Self::bare(name, "linked to other names"),
            Contrast::Length(one, other) => Self::both(name, "length in bytes", one, other),
            Contrast::Content(offset) => Self::one(name, "other content from byte", offset),
            _ => Self::bare(name, "differs"),
        }
    }

    /// A row of what only one of the two has.
    pub fn only_in(name: String, side: Side) -> Self {
        let what = match side {
            Side::Left => "only in the first",
            Side::Right => "only in the second",
        };
        Self::bare(name, what)
    }

    /// A row without values.
    pub fn bare(name: String, what: &'static str) -> Self {
        Self {
            name,
            what,
            first: None,
            second: None,
        }
    }

    /// A row with a value that is neither of the first nor of the second alone.
    pub fn one(name: String, what: &'static str, value: impl Display) -> Self {
        Self {
            first: Some(value.to_string()),
            ..Self::bare(name, what)
        }
    }

    /// A row with the values of both.
    pub fn both(
        name: String,
        what: &'static str,
        first: impl Display,
        second: impl Display,
    ) -> Self {
        Self {
            first: Some(first.to_string()),
            second: Some(second.to_string()),
            ..Self::bare(name, what)
        }
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
