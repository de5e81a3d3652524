//! Images that are there, actions, expert options, help.

use super::{Section, flag, no_effect, refused, value};
use crate::mksquashfs::request::Print;

const REPLACED: &str = "replaces DESTINATION; otherwise one that exists is refused";
const IN_PLACE: &str = "nothing is changed in place, so there is nothing to recover";
const ACTION: &str = "actions are not understood; excludes, -force-uid, -force-file-mode, \
                      -xattrs-exclude and `-p` do what most of them are for";

/// What becomes of an image that is there.
pub(super) const EXISTING: Section = Section {
    title: "Existing images",
    rows: &[
        flag("-noappend", |request| request.replace = true, REPLACED).mksquashfs_only(),
        flag("-force", |request| request.replace = true, REPLACED).sqfstar_only(),
        refused("-root-becomes NAME", "nothing is appended to an image").mksquashfs_only(),
        no_effect("-no-recovery", IN_PLACE).mksquashfs_only(),
        no_effect("-recovery-path DIRECTORY", IN_PLACE).mksquashfs_only(),
        refused("-recover FILE", "recovery files are those of mksquashfs").mksquashfs_only(),
    ],
};

/// Actions.
pub(super) const ACTIONS: Section = Section {
    title: "Actions",
    rows: &[
        refused("-action|-a ACTION", ACTION).mksquashfs_only(),
        refused("-log-action|-va ACTION", ACTION).mksquashfs_only(),
        refused("-true-action|-ta ACTION", ACTION).mksquashfs_only(),
        refused("-false-action|-fa ACTION", ACTION).mksquashfs_only(),
        refused("-action-file|-af FILE", ACTION).mksquashfs_only(),
        refused("-log-action-file|-vaf FILE", ACTION).mksquashfs_only(),
        refused("-true-action-file|-taf FILE", ACTION).mksquashfs_only(),
        refused("-false-action-file|-faf FILE", ACTION).mksquashfs_only(),
        refused("-log FILE", ACTION).mksquashfs_only(),
    ],
};

/// Expert options and help.
pub(super) const OTHERS: Section = Section {
    title: "Others",
    rows: &[
        flag(
            "-nopad",
            |request| request.pad = false,
            "the image is not padded to a multiple of 4 KiB",
        ),
        value(
            "-offset|-o BYTES",
            |request, value| value.size_bytes().map(|bytes| request.offset_bytes = bytes),
            "leaves so many bytes free in front of the image",
        ),
        refused(
            "-stream",
            "an image with the superblock at its end cannot be mounted; write to a file",
        ),
        refused("-fix FILE", "streamed images are those of mksquashfs"),
        flag(
            "-help|-h|-help-all|-ha",
            |request| request.print(Print::Help),
            "prints all options",
        ),
        value(
            "-help-option|-ho NAME",
            |request, value| {
                value
                    .string()
                    .map(|name| request.print(Print::Options(name)))
            },
            "prints the options with this in their name",
        ),
        value(
            "-help-section|-hs SECTION",
            |request, value| {
                value
                    .string()
                    .map(|title| request.print(Print::Sections(title)))
            },
            "prints the sections with this in their title; `list` names all",
        ),
        value(
            "-help-comp NAME",
            |request, value| {
                value
                    .string()
                    .map(|name| request.print(Print::Compressor(name)))
            },
            "prints the options of a compressor",
        ),
        no_effect("-no-pager", "help is never paged"),
        no_effect("-cols COLUMNS", "help does not depend on the terminal"),
    ],
};
