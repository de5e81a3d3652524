//! What is restored, and where.

use super::{Row, Section};
use crate::squashfs_tools::Tool;

/// Where files go, and what of them is changed.
pub(super) const RESTORING: Section = Section {
    title: "Extraction",
    rows: &[
        Row::value(
            "-dest|-d DIRECTORY",
            |request, value| {
                request.destination = value.path();
                Ok(())
            },
            "extracts to DIRECTORY, default squashfs-root; listed paths begin with it",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-force|-f",
            |request| request.force = true,
            "files in the way are replaced; otherwise they are an error",
        )
        .only(Tool::Unsquashfs),
        Row::value(
            "-all-time|-all TIME",
            |request, value| value.seconds().map(|time_s| request.time_s = Some(time_s)),
            "of all files, listed ones too: seconds since 1970, or what `date -d` understands",
        )
        .only(Tool::Unsquashfs),
        Row::value(
            "-force-uid USER",
            |request, value| value.user().map(|uid| request.owners.uid = Some(uid)),
            "of all files, a number or a name; for root only; since 4.7.6",
        )
        .only(Tool::Unsquashfs),
        Row::value(
            "-force-gid GROUP",
            |request, value| value.group().map(|gid| request.owners.gid = Some(gid)),
            "of all files, a number or a name; for root only; since 4.7.6",
        )
        .only(Tool::Unsquashfs),
        Row::value(
            "-force-file-mode MODE",
            |request, value| {
                value
                    .mode()
                    .map(|mode| request.owners.file_mode = Some(mode))
            },
            "of everything but directories, octal or symbolic; since 4.7.6",
        )
        .only(Tool::Unsquashfs),
        Row::value(
            "-force-dir-mode MODE",
            |request, value| {
                value
                    .mode()
                    .map(|mode| request.owners.directory_mode = Some(mode))
            },
            "of directories, octal or symbolic; since 4.7.6",
        )
        .only(Tool::Unsquashfs),
    ],
};

/// Which extended attributes are restored.
pub(super) const XATTRS: Section = Section {
    title: "Extended attributes",
    rows: &[
        Row::flag(
            "-xattrs|-x",
            |request| request.xattrs.restored = true,
            "are restored; the default",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-no-xattrs|-no",
            |request| request.xattrs.restored = false,
            "are left out",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-user-xattrs|-u",
            |request| request.xattrs.include("^user.".to_owned()),
            "only those of users are restored",
        )
        .only(Tool::Unsquashfs),
        Row::value(
            "-xattrs-exclude REGEX",
            |request, value| value.string().map(|regex| request.xattrs.exclude(regex)),
            "those with such names are left out",
        )
        .only(Tool::Unsquashfs),
        Row::value(
            "-xattrs-include REGEX",
            |request, value| value.string().map(|regex| request.xattrs.include(regex)),
            "only those with such names are restored",
        )
        .only(Tool::Unsquashfs),
    ],
};
