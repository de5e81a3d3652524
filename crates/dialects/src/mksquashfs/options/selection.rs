//! What of the sources is taken, and in which order.

use super::{Row, Section};
use crate::mksquashfs::request::{Boundary, Excludes, Patterns};
use crate::squashfs_tools::Tool;

const LINKS: &str = "symbolic links stay links; copy the tree with `cp -aL` before";

/// What of the sources is taken, and in which order.
pub(super) const SELECTION: Section = Section {
    title: "Selection and order",
    rows: &[
        Row::value(
            "-e PATHS...",
            |request, value| {
                request.excludes.push(Excludes::One(value.text.to_owned()));
                Ok(())
            },
            "leaves these out; everything after it is a path, even if it looks like an option",
        )
        .only(Tool::Mksquashfs),
        Row::value(
            "-ef FILE",
            |request, value| {
                request.excludes.push(Excludes::File(value.path()));
                Ok(())
            },
            "leaves out what FILE lists, each on a line",
        ),
        Row::flag(
            "-wildcards",
            |request| request.patterns = Patterns::Wildcards,
            "excludes are shell patterns; `... PATTERN` matches at any depth; sqfstar's default",
        )
        .only(Tool::Mksquashfs),
        Row::flag(
            "-regex",
            |request| request.patterns = Patterns::Regex,
            "excludes are extended regular expressions, each for one component of a path",
        ),
        Row::value(
            "-max-depth N",
            |request, value| value.u32().map(|depth| request.max_depth = Some(depth)),
            "directories at this depth stay empty",
        )
        .only(Tool::Mksquashfs),
        Row::flag(
            "-one-file-system",
            |request| request.boundary = request.boundary.max(Boundary::Empty),
            "directories on which something is mounted stay empty",
        )
        .only(Tool::Mksquashfs),
        Row::flag(
            "-one-file-system-x",
            |request| request.boundary = Boundary::Absent,
            "directories on which something is mounted are left out",
        )
        .only(Tool::Mksquashfs),
        Row::value(
            "-sort FILE",
            |request, value| {
                request.sort.push(value.path());
                Ok(())
            },
            "lays out files by their priorities in FILE, -32768 (last) to 32767 (first)",
        )
        .only(Tool::Mksquashfs),
        Row::refused("-dereference", LINKS).only(Tool::Mksquashfs),
        Row::refused("-deref RESPONSE", LINKS).only(Tool::Mksquashfs),
        Row::refused("-deref-path PATH", LINKS).only(Tool::Mksquashfs),
    ],
};
