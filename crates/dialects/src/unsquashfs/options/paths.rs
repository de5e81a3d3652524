//! Which paths of an image.

use super::{Row, Section};
use crate::squashfs_tools::Tool;
use crate::unsquashfs::request::{Filter, Request};

/// Which paths of an image.
pub(super) const PATHS: Section = Section {
    title: "Paths",
    rows: &[
        Row::value(
            "-max-depth|-max LEVELS",
            |request, value| value.u32().map(|depth| request.max_depth = Some(depth)),
            "names in a path at most; directories at this depth stay empty",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-excludes",
            |request| request.paths_exclude = true,
            "leaves out the paths after the image; takes everything else",
        )
        .only(Tool::Unsquashfs),
        Row::list(
            "-exclude-list|-ex PATHS... ;",
            |request, value| {
                request.filters.push(Filter::Exclude(value.text.to_owned()));
                Ok(())
            },
            "leaves these out; `... PATTERN` matches at any depth",
        )
        .only(Tool::Unsquashfs),
        Row::value(
            "-extract-file|-ef|-e FILE",
            |request, value| {
                request.filters.push(Filter::ExtractFile(value.path()));
                Ok(())
            },
            "takes what FILE lists, each on a line",
        )
        .only(Tool::Unsquashfs),
        Row::value(
            "-exclude-file|-excf|-exc FILE",
            |request, value| {
                request.filters.push(Filter::ExcludeFile(value.path()));
                Ok(())
            },
            "leaves out what FILE lists, each on a line",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-match|-missing|-missing-symlinks",
            |request| {
                request.must_match = true;
                request.follow();
            },
            "a path to be taken that leads nowhere is an error; implies `-follow-symlinks`",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-follow-symlinks|-follow-symlink|-follow|-L",
            Request::follow,
            "takes also what a symbolic link at the end of a path points to; implies \
            `-no-wildcards`",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-no-wildcards|-no-wild",
            |request| request.no_wildcards = true,
            "paths are not patterns",
        ),
        Row::flag(
            "-regex|-r",
            |request| request.regex = true,
            "paths are extended regular expressions, each for one component of a path",
        ),
        Row::value(
            "-offset|-o BYTES",
            |request, value| value.size_bytes().map(|bytes| request.offset_bytes = bytes),
            "the image begins after this many bytes of the file",
        ),
    ],
};
