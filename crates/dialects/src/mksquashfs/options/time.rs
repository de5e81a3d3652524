//! The times that the image records.

use super::{Row, Section};
use crate::mksquashfs::request::Time;

/// The times that the image records.
pub(super) const TIME: Section = Section {
    title: "Times",
    rows: &[
        Row::value(
            "-mkfs-time|-fstime TIME",
            |request, value| value.time().map(|time| request.times.set_mkfs(time)),
            "of the image: seconds since 1970, `inode` for the newest of the tree, or what \
             `date -d` understands; default now",
        ),
        Row::value(
            "-inode-time|-all-time TIME",
            |request, value| value.time().map(|time| request.times.set_inodes(time)),
            "of all inodes",
        ),
        Row::value(
            "-root-time TIME",
            |request, value| value.time().map(|time| request.times.set_root(time)),
            "of the root directory, unless -inode-time is given",
        ),
        Row::flag(
            "-repro",
            |request| request.times.repro = true,
            "`-mkfs-time inode`",
        ),
        Row::value(
            "-repro-time TIME",
            |request, value| {
                let time = value.seconds().map(Time::At)?;
                request.times.repro_time = Some(time);
                Ok(())
            },
            "`-mkfs-time TIME -inode-time TIME`",
        ),
    ],
};
