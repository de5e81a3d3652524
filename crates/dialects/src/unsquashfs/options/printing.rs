//! What is printed of an image.

use super::{Row, Section};
use crate::squashfs_tools::Tool;

const LISTS: &str = "lists with type and mode, owner, size and time; extracts nothing";

/// What is printed of an image.
pub(super) const PRINTING: Section = Section {
    title: "Printing",
    rows: &[
        Row::flag(
            "-stat|-s",
            |request| request.superblock = true,
            "prints what the superblock says, and nothing else",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-mkfs-time|-fstime",
            |request| request.mkfs_time = true,
            "prints the time of the image in seconds since 1970, and nothing else",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-ls|-l",
            |request| request.listing.set_only(false),
            "lists names; extracts nothing",
        )
        .only(Tool::Unsquashfs),
        Row::flag("-lls|-ll", |request| request.listing.set_only(true), LISTS)
            .only(Tool::Unsquashfs),
        Row::flag(
            "-llnumeric|-lln",
            |request| {
                request.listing.set_only(true);
                request.listing.numeric = true;
            },
            "the same, with owners as numbers",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-lc",
            |request| {
                request.listing.set_only(false);
                request.listing.concise = true;
            },
            "as -ls, of directories only empty ones",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-llc",
            |request| {
                request.listing.set_only(true);
                request.listing.concise = true;
            },
            "as -lls, of directories only empty ones",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-info|-i",
            |request| request.listing.info = true,
            "prints what is extracted",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-linfo|-li",
            |request| {
                request.listing.info = true;
                request.listing.long = true;
            },
            "the same, as -lls does",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-full-precision|-full",
            |request| request.listing.seconds = true,
            "times with seconds",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-UTC",
            |request| request.listing.utc = true,
            "times in UTC, not in the zone of the machine",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-cat",
            |request| request.cat = true,
            "prints the contents of the files, as sqfscat does",
        )
        .only(Tool::Unsquashfs),
        Row::value(
            "-pf|-pseudo-file FILE",
            |request, value| {
                request.pseudo = Some(value.path());
                Ok(())
            },
            "writes the image as pseudo definitions with data, `-` for standard output",
        )
        .only(Tool::Unsquashfs),
    ],
};
