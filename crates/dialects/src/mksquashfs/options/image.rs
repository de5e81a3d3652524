//! Where the tree comes from, and how it is packed.

use coldpress_layout::Tails;

use super::{Row, Section};
use crate::mksquashfs::request::Input;
use crate::squashfs_tools::Tool;

/// Where the tree comes from, and how it is packed.
pub(super) const BUILD: Section = Section {
    title: "Image",
    rows: &[
        Row::flag(
            "-tar",
            |request| request.input.push(Input::Tar),
            "the source is `-`: a tar stream on standard input",
        )
        .only(Tool::Mksquashfs),
        Row::refused("-zip", "zip archives are not read; extract them first")
            .only(Tool::Mksquashfs),
        Row::flag(
            "-no-strip|-tarstyle",
            |request| request.whole_paths = true,
            "sources keep their whole path, as in tar",
        )
        .only(Tool::Mksquashfs),
        Row::flag(
            "-cpiostyle",
            |request| request.input.push(Input::Names { end: b'\n' }),
            "the source is `-`: names on standard input, each on a line",
        )
        .only(Tool::Mksquashfs),
        Row::flag(
            "-cpiostyle0",
            |request| request.input.push(Input::Names { end: 0 }),
            "as -cpiostyle, each name ends with a zero byte",
        )
        .only(Tool::Mksquashfs),
        Row::no_effect(
            "-reproducible",
            "the same tree and options always give the same bytes; -repro is about times",
        ),
        Row::no_effect("-not-reproducible", "as in mksquashfs since 4.7"),
        Row::flag(
            "-exports",
            |request| request.exportable = true,
            "with an export table, for NFS; mksquashfs's default",
        ),
        Row::flag(
            "-no-exports",
            |request| request.exportable = false,
            "without an export table; sqfstar's default",
        )
        .only(Tool::Mksquashfs),
        Row::no_effect(
            "-no-sparse",
            "blocks of zeros are always stored as holes, which read the same",
        ),
        Row::flag(
            "-tailends|-always-use-fragments",
            |request| request.tails = Some(Tails::All),
            "tail ends of large files share blocks too; the default for tar streams",
        )
        .only(Tool::Mksquashfs),
        Row::flag(
            "-no-tailends",
            |request| request.tails = Some(Tails::Small),
            "only files smaller than a block share blocks; mksquashfs's default",
        ),
        Row::flag(
            "-no-fragments",
            |request| request.no_fragments = true,
            "no two files share a block",
        ),
        Row::flag(
            "-no-duplicates",
            |request| request.duplicates = false,
            "equal files are stored several times",
        ),
        Row::flag(
            "-no-hardlinks",
            |request| request.hard_links = false,
            "names of one file become several files",
        ),
        Row::flag(
            "-keep-as-directory",
            |request| request.keep_as_directory = true,
            "makes a single source an entry of the root directory, under its name",
        )
        .only(Tool::Mksquashfs),
    ],
};
