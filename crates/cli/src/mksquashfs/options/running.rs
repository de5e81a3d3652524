//! Threads, memory, messages.

use std::num::NonZeroUsize;

use super::{Section, flag, no_effect, value};
use crate::mksquashfs::request::{Info, Memory, Print};

const READERS: &str = "there are no threads that only read";
const QUEUES: &str = "-mem is the one limit of blocks in flight";

/// Threads, memory, messages.
pub(super) const RUNNING: Section = Section {
    title: "Running",
    rows: &[
        flag(
            "-version|--version",
            |request| request.print(Print::Version),
            "prints the version",
        ),
        flag(
            "-exit-on-error",
            |request| request.talk.exit_on_error = true,
            "what cannot be stored as found is an error, not a warning",
        ),
        flag(
            "-quiet",
            |request| request.talk.quiet = true,
            "prints no summary",
        ),
        flag(
            "-info",
            |request| request.talk.info = Info::Stdout,
            "prints what is stored, and no progress bar",
        ),
        value(
            "-info-file FILE",
            |request, value| {
                request.talk.info = Info::File(value.path());
                Ok(())
            },
            "writes that to FILE, which must not exist",
        ),
        flag(
            "-no-progress",
            |request| request.talk.no_progress = true,
            "no progress bar",
        ),
        flag(
            "-progress",
            |request| request.talk.progress = true,
            "a progress bar, also with -info",
        ),
        flag(
            "-percentage",
            |request| request.talk.percentage = true,
            "prints whole percents on standard output, each on a line",
        ),
        value(
            "-throttle PERCENT",
            |request, value| {
                value
                    .percent(0..=99)
                    .map(|percent| request.work.rest_percent = percent)
            },
            "rests for this part of the time, 0 to 99",
        ),
        value(
            "-limit PERCENT",
            |request, value| {
                value
                    .percent(1..=100)
                    .map(|percent| request.work.rest_percent = 100 - percent)
            },
            "works for this part of the time, 1 to 100",
        ),
        value(
            "-processors N",
            |request, value| {
                let threads = value.usize()?;
                let threads = NonZeroUsize::new(threads);
                let threads = threads.ok_or_else(|| value.wrong("must be 1 or more"))?;
                request.work.threads = Some(threads);
                Ok(())
            },
            "threads that compress; default as many as this process may use",
        ),
        value(
            "-mem SIZE",
            |request, value| {
                value
                    .size_bytes()
                    .map(|bytes| request.work.memory = Some(Memory::Bytes(bytes)))
            },
            "memory for blocks in flight",
        ),
        value(
            "-mem-percent PERCENT",
            |request, value| {
                let percent = value.percent(1..=75)?;
                request.work.memory = Some(Memory::Percent(percent));
                Ok(())
            },
            "the same in percent of the machine's memory, 1 to 75",
        ),
        flag(
            "-mem-default",
            |request| request.print(Print::MemoryDefault),
            "prints the default of -mem in MiB",
        ),
        no_effect("-single-reader", READERS).mksquashfs_only(),
        no_effect("-small-readers N", READERS).mksquashfs_only(),
        no_effect("-block-readers N", READERS).mksquashfs_only(),
        no_effect(
            "-overcommit PERCENT",
            "there are never more threads than -processors",
        ),
        no_effect("-read-queue MIB", QUEUES).mksquashfs_only(),
        no_effect("-write-queue MIB", QUEUES).mksquashfs_only(),
        no_effect("-fragment-queue MIB", QUEUES).mksquashfs_only(),
    ],
};
