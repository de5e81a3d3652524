//! What of the sources is taken, and in which order.

use super::{Section, flag, refused, value};
use crate::mksquashfs::request::{Boundary, Excludes, Patterns};

const LINKS: &str = "symbolic links stay links; copy the tree with `cp -aL` before";

/// What of the sources is taken, and in which order.
pub(super) const SELECTION: Section = Section {
    title: "Selection and order",
    rows: &[
        value(
            "-e PATHS...",
            |request, value| {
                request.excludes.push(Excludes::One(value.text.to_owned()));
                Ok(())
            },
            "leaves these out; everything behind it is a path, also what looks like an option",
        )
        .mksquashfs_only(),
        value(
            "-ef FILE",
            |request, value| {
                request.excludes.push(Excludes::File(value.path()));
                Ok(())
            },
            "leaves out what FILE lists, each on a line",
        ),
        flag(
            "-wildcards",
            |request| request.patterns = Patterns::Wildcards,
            "excludes are shell patterns; `... PATTERN` matches at any depth; sqfstar's default",
        )
        .mksquashfs_only(),
        flag(
            "-regex",
            |request| request.patterns = Patterns::Regex,
            "excludes are extended regular expressions, each for one component of a path",
        ),
        value(
            "-max-depth N",
            |request, value| value.u32().map(|depth| request.max_depth = Some(depth)),
            "directories at this depth stay empty",
        )
        .mksquashfs_only(),
        flag(
            "-one-file-system",
            |request| request.boundary = request.boundary.max(Boundary::Empty),
            "directories on which something is mounted stay empty",
        )
        .mksquashfs_only(),
        flag(
            "-one-file-system-x",
            |request| request.boundary = Boundary::Absent,
            "directories on which something is mounted are left out",
        )
        .mksquashfs_only(),
        value(
            "-sort FILE",
            |request, value| {
                request.sort.push(value.path());
                Ok(())
            },
            "lays out files by their priorities in FILE, -32768 (last) to 32767 (first)",
        )
        .mksquashfs_only(),
        refused("-dereference", LINKS).mksquashfs_only(),
        refused("-deref RESPONSE", LINKS).mksquashfs_only(),
        refused("-deref-path PATH", LINKS).mksquashfs_only(),
    ],
};
