//! Where the tree comes from, and how it is packed.

use coldpress_layout::Tails;

use super::{Section, flag, no_effect, refused};
use crate::mksquashfs::request::Input;

/// Where the tree comes from, and how it is packed.
pub(super) const BUILD: Section = Section {
    title: "Image",
    rows: &[
        flag(
            "-tar",
            |request| request.input.push(Input::Tar),
            "the source is `-`: a tar stream on standard input",
        )
        .mksquashfs_only(),
        refused("-zip", "zip archives are not read; extract them first").mksquashfs_only(),
        flag(
            "-no-strip|-tarstyle",
            |request| request.whole_paths = true,
            "sources keep their whole path, as in tar",
        )
        .mksquashfs_only(),
        flag(
            "-cpiostyle",
            |request| request.input.push(Input::Names { end: b'\n' }),
            "the source is `-`: names on standard input, each on a line",
        )
        .mksquashfs_only(),
        flag(
            "-cpiostyle0",
            |request| request.input.push(Input::Names { end: 0 }),
            "as -cpiostyle, each name ends with a zero byte",
        )
        .mksquashfs_only(),
        no_effect(
            "-reproducible",
            "the same tree and options always give the same bytes; -repro is about times",
        ),
        no_effect("-not-reproducible", "as in mksquashfs since 4.7"),
        flag(
            "-exports",
            |request| request.exportable = true,
            "with an export table, for NFS; mksquashfs's default",
        ),
        flag(
            "-no-exports",
            |request| request.exportable = false,
            "without an export table; sqfstar's default",
        )
        .mksquashfs_only(),
        no_effect(
            "-no-sparse",
            "blocks of zeros are always stored as holes, which read the same",
        ),
        flag(
            "-tailends|-always-use-fragments",
            |request| request.tails = Some(Tails::All),
            "tail ends of large files share blocks too; the default for tar streams",
        )
        .mksquashfs_only(),
        flag(
            "-no-tailends",
            |request| request.tails = Some(Tails::Small),
            "only files smaller than a block share blocks; mksquashfs's default",
        ),
        flag(
            "-no-fragments",
            |request| request.no_fragments = true,
            "no two files share a block",
        ),
        flag(
            "-no-duplicates",
            |request| request.duplicates = false,
            "equal files are stored several times",
        ),
        flag(
            "-no-hardlinks",
            |request| request.hard_links = false,
            "names of one file become several files",
        ),
        flag(
            "-keep-as-directory",
            |request| request.keep_as_directory = true,
            "a single source stands in the root directory by its name",
        )
        .mksquashfs_only(),
    ],
};
