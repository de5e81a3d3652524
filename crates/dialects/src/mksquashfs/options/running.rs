//! Threads, memory, messages.

use coldpress_host::memory::Limit;

use super::{Row, Section};
use crate::mksquashfs::request::{Info, Print};
use crate::squashfs_tools::Tool;

const READERS: &str = "there are no threads that only read";
const QUEUES: &str = "-mem is the one limit of blocks in flight";

/// Threads, memory, messages.
pub(super) const RUNNING: Section = Section {
    title: "Running",
    rows: &[
        Row::flag(
            "-version|--version",
            |request| request.print(Print::Version),
            "prints the version",
        ),
        Row::flag(
            "-exit-on-error",
            |request| request.talk.exit_on_error = true,
            "what cannot be stored as found is an error, not a warning",
        ),
        Row::flag(
            "-quiet",
            |request| request.talk.quiet = true,
            "prints no summary",
        ),
        Row::flag(
            "-info",
            |request| request.talk.info = Info::Stdout,
            "prints what is stored, and no progress bar",
        ),
        Row::value(
            "-info-file FILE",
            |request, value| {
                request.talk.info = Info::File(value.path());
                Ok(())
            },
            "writes that to FILE, which must not exist",
        ),
        Row::flag(
            "-no-progress",
            |request| request.talk.no_progress = true,
            "no progress bar",
        ),
        Row::flag(
            "-progress",
            |request| request.talk.progress = true,
            "a progress bar, also with -info",
        ),
        Row::flag(
            "-percentage",
            |request| request.talk.percentage = true,
            "prints whole percents on standard output, each on a line",
        ),
        Row::value(
            "-throttle PERCENT",
            |request, value| {
                value
                    .percent(0..=99)
                    .map(|percent| request.work.rest_percent = percent)
            },
            "rests for this part of the time, 0 to 99",
        ),
        Row::value(
            "-limit PERCENT",
            |request, value| {
                value
                    .percent(1..=100)
                    .map(|percent| request.work.rest_percent = 100 - percent)
            },
            "works for this part of the time, 1 to 100",
        ),
        Row::value(
            "-processors N",
            |request, value| {
                value
                    .threads()
                    .map(|threads| request.work.threads = Some(threads))
            },
            "threads that compress; default as many as this process may use",
        ),
        Row::value(
            "-mem SIZE",
            |request, value| {
                value
                    .size_bytes()
                    .map(|bytes| request.work.memory = Some(Limit::Bytes(bytes)))
            },
            "memory for blocks in flight",
        ),
        Row::value(
            "-mem-percent PERCENT",
            |request, value| {
                let percent = value.percent(1..=75)?;
                request.work.memory = Some(Limit::Percent(percent));
                Ok(())
            },
            "the same in percent of the machine's memory, 1 to 75",
        ),
        Row::flag(
            "-mem-default",
            |request| request.print(Print::MemoryDefault),
            "prints the default of -mem in MiB",
        ),
        Row::no_effect("-single-reader", READERS).only(Tool::Mksquashfs),
        Row::no_effect("-small-readers N", READERS).only(Tool::Mksquashfs),
        Row::no_effect("-block-readers N", READERS).only(Tool::Mksquashfs),
        Row::no_effect(
            "-overcommit PERCENT",
            "there are never more threads than -processors",
        ),
        Row::no_effect("-read-queue MIB", QUEUES).only(Tool::Mksquashfs),
        Row::no_effect("-write-queue MIB", QUEUES).only(Tool::Mksquashfs),
        Row::no_effect("-fragment-queue MIB", QUEUES).only(Tool::Mksquashfs),
    ],
};
