//! Owners and modes, pseudo definitions, and what a tar stream does not say.

use super::{Row, Section};
use crate::mksquashfs::request::{Definitions, Input};

/// Owners and modes.
pub(super) const OWNERS: Section = Section {
    title: "Owners and modes",
    rows: &[
        Row::flag(
            "-all-root|-root-owned",
            |request| request.owners.all_root(),
            "everything belongs to user 0 and group 0",
        ),
        Row::value(
            "-root-mode MODE",
            |request, value| {
                value
                    .mode()
                    .map(|mode| request.owners.root_mode = Some(mode))
            },
            "of the root directory, octal or symbolic",
        ),
        Row::value(
            "-root-uid USER",
            |request, value| value.user().map(|uid| request.owners.root_uid = Some(uid)),
            "of the root directory, a number or a name",
        ),
        Row::value(
            "-root-gid GROUP",
            |request, value| value.group().map(|gid| request.owners.root_gid = Some(gid)),
            "of the root directory, a number or a name",
        ),
        Row::value(
            "-force-file-mode MODE",
            |request, value| {
                value
                    .mode()
                    .map(|mode| request.owners.file_mode = Some(mode))
            },
            "of everything but directories",
        ),
        Row::value(
            "-force-dir-mode MODE",
            |request, value| {
                value
                    .mode()
                    .map(|mode| request.owners.directory_mode = Some(mode))
            },
            "of directories",
        ),
        Row::value(
            "-force-uid USER",
            |request, value| value.user().map(|uid| request.owners.uid = Some(uid)),
            "of everything",
        ),
        Row::value(
            "-force-gid GROUP",
            |request, value| value.group().map(|gid| request.owners.gid = Some(gid)),
            "of everything",
        ),
        Row::value(
            "-uid-gid-offset N",
            |request, value| value.u32().map(|offset| request.owners.offset = offset),
            "is added to all user and group numbers",
        ),
    ],
};

/// Inodes by definition.
pub(super) const PSEUDO: Section = Section {
    title: "Pseudo definitions",
    rows: &[
        Row::value(
            "-p DEFINITION",
            |request, value| {
                request
                    .pseudo
                    .push(Definitions::Line(value.text.to_owned()));
                Ok(())
            },
            "adds or changes an inode",
        ),
        Row::value(
            "-pf FILE",
            |request, value| {
                if value.text == "-" {
                    request.input.push(Input::Definitions);
                }
                request.pseudo.push(Definitions::File(value.path()));
                Ok(())
            },
            "reads definitions from FILE, `-` for standard input",
        ),
        Row::value(
            "-pd|-pseudo-dir DEFINITION",
            |request, value| {
                request.pseudo_directory = Some(value.text.to_owned());
                Ok(())
            },
            "`d MODE UID GID` or `D TIME MODE UID GID`: directories that definitions lack",
        ),
        Row::flag(
            "-pseudo-override",
            |request| request.pseudo_override = true,
            "owners and modes of definitions win over -all-root and the -force options",
        ),
    ],
};

/// What a tar stream does not say.
pub(super) const TAR: Section = Section {
    title: "Tar streams",
    rows: &[
        Row::value(
            "-default-mode MODE",
            |request, value| {
                let mode = value.mode()?;
                request.owners.root_mode = Some(mode.clone());
                request.tar.mode = Some(mode);
                Ok(())
            },
            "of directories that the stream lacks, and of the root; default 0755",
        ),
        Row::value(
            "-default-uid USER",
            |request, value| {
                let uid = value.user()?;
                request.owners.root_uid = Some(uid);
                request.tar.uid = Some(uid);
                Ok(())
            },
            "of such directories",
        ),
        Row::value(
            "-default-gid GROUP",
            |request, value| {
                let gid = value.group()?;
                request.owners.root_gid = Some(gid);
                request.tar.gid = Some(gid);
                Ok(())
            },
            "of such directories",
        ),
        Row::flag(
            "-ignore-zeros",
            |request| request.tar.ignore_zeros = true,
            "continues after the end of an archive",
        ),
        Row::no_effect(
            "-numeric-owner",
            "owners are always taken by number, never by name",
        ),
    ],
};
