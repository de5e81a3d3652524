//! Images that are there, actions, expert options, help.

use super::{Row, Section};
use crate::mksquashfs::request::Print;
use crate::squashfs_tools::Tool;

const REPLACED: &str = "replaces DESTINATION; otherwise one that exists is appended to";
const REPLACED_BY_TAR: &str = "replaces DESTINATION; otherwise one that exists is refused";
const WHOLE: &str = "a kill while appending leaves the old image, so there is nothing to recover";
const ACTION: &str = "actions are not understood; excludes, -force-uid, -force-file-mode, \
                      -xattrs-exclude and `-p` do what most of them are for";

/// What becomes of an image that is there.
pub(super) const EXISTING: Section = Section {
    title: "Existing images",
    rows: &[
        Row::flag("-noappend", |request| request.replace = true, REPLACED).only(Tool::Mksquashfs),
        Row::flag("-force", |request| request.replace = true, REPLACED_BY_TAR).only(Tool::Sqfstar),
        Row::value(
            "-root-becomes NAME",
            |request, value| value.name().map(|name| request.root_becomes = Some(name)),
            "when appending: makes the old root directory an entry of the new one, with this name",
        )
        .only(Tool::Mksquashfs),
        Row::no_effect("-no-recovery", WHOLE).only(Tool::Mksquashfs),
        Row::no_effect("-recovery-path DIRECTORY", WHOLE).only(Tool::Mksquashfs),
        Row::value(
            "-recover FILE",
            |request, value| {
                request.recover = Some(value.path());
                Ok(())
            },
            "restores DESTINATION after squashfs-tools was killed while appending to it",
        )
        .only(Tool::Mksquashfs),
    ],
};

/// Actions.
pub(super) const ACTIONS: Section = Section {
    title: "Actions",
    rows: &[
        Row::refused("-action|-a ACTION", ACTION).only(Tool::Mksquashfs),
        Row::refused("-log-action|-va ACTION", ACTION).only(Tool::Mksquashfs),
        Row::refused("-true-action|-ta ACTION", ACTION).only(Tool::Mksquashfs),
        Row::refused("-false-action|-fa ACTION", ACTION).only(Tool::Mksquashfs),
        Row::refused("-action-file|-af FILE", ACTION).only(Tool::Mksquashfs),
        Row::refused("-log-action-file|-vaf FILE", ACTION).only(Tool::Mksquashfs),
        Row::refused("-true-action-file|-taf FILE", ACTION).only(Tool::Mksquashfs),
        Row::refused("-false-action-file|-faf FILE", ACTION).only(Tool::Mksquashfs),
        Row::refused("-log FILE", ACTION).only(Tool::Mksquashfs),
    ],
};

/// Expert options and help.
pub(super) const OTHERS: Section = Section {
    title: "Others",
    rows: &[
        Row::flag(
            "-nopad",
            |request| request.pad = false,
            "the image is not padded to a multiple of 4 KiB",
        ),
        Row::value(
            "-offset|-o BYTES",
            |request, value| value.size_bytes().map(|bytes| request.offset_bytes = bytes),
            "leaves this many bytes free before the image",
        ),
        Row::refused(
            "-stream",
            "an image with the superblock at its end cannot be mounted; write to a file",
        ),
        Row::refused("-fix FILE", "streamed images are those of mksquashfs"),
        Row::flag(
            "-help|-h|--help|-help-all|-ha",
            |request| request.print(Print::Help),
            "prints all options",
        ),
        Row::value(
            "-help-option|-ho NAME",
            |request, value| {
                value
                    .string()
                    .map(|name| request.print(Print::Options(name)))
            },
            "prints the options with this in their name",
        ),
        Row::value(
            "-help-section|-hs SECTION",
            |request, value| {
                value
                    .string()
                    .map(|title| request.print(Print::Sections(title)))
            },
            "prints the sections with this in their title; `list` names all",
        ),
        Row::value(
            "-help-comp NAME",
            |request, value| {
                value
                    .string()
                    .map(|name| request.print(Print::Compressor(name)))
            },
            "prints the options of a compressor",
        ),
        Row::no_effect("-no-pager", "help is never paged"),
        Row::no_effect("-cols COLUMNS", "help does not depend on the terminal"),
    ],
};
