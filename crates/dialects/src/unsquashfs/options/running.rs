//! Threads, memory, messages, help.

use coldpress_host::memory::Limit;

use super::{Row, Section};
use crate::squashfs_tools::Tool;
use crate::unsquashfs::request::Print;

const QUEUES: &str = "-mem is the one limit of blocks in flight";

/// Threads, memory, messages.
pub(super) const RUNNING: Section = Section {
    title: "Running",
    rows: &[
        Row::value(
            "-processors|-p N",
            |request, value| {
                value
                    .threads()
                    .map(|threads| request.threads = Some(threads))
            },
            "threads that decompress; default as many as this process may use",
        ),
        Row::value(
            "-mem SIZE",
            |request, value| {
                value
                    .size_bytes()
                    .map(|bytes| request.memory = Some(Limit::Bytes(bytes)))
            },
            "memory for blocks in flight",
        ),
        Row::value(
            "-mem-percent PERCENT",
            |request, value| {
                let percent = value.percent(1..=75)?;
                request.memory = Some(Limit::Percent(percent));
                Ok(())
            },
            "the same in percent of the machine's memory, 1 to 75",
        ),
        Row::flag(
            "-mem-default",
            |request| request.print(Print::MemoryDefault),
            "prints the default of -mem in MiB; since 4.7.6",
        ),
        Row::no_effect("-data-queue|-da MIB", QUEUES),
        Row::no_effect("-frag-queue|-fr MIB", QUEUES),
        Row::no_effect(
            "-max-files N",
            "no more files are open at a time than there are threads; since 4.7.6",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-quiet|-q",
            |request| request.talk.quiet = true,
            "prints no counts",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-no-progress|-n",
            |request| request.talk.no_progress = true,
            "no progress bar",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-percentage",
            |request| request.talk.percentage = true,
            "prints whole percents on standard output, each on a line",
        )
        .only(Tool::Unsquashfs),
        Row::flag(
            "-ignore-errors|-ig",
            |request| request.errors.ignore = true,
            "files that cannot be restored are left out; the exit status is 2",
        ),
        Row::flag(
            "-strict-errors|-st",
            |request| request.errors.strict = true,
            "whatever is wrong ends the work; the exit status is 1",
        ),
        Row::flag(
            "-no-exit-code|-no-exit",
            |request| request.errors.no_exit_code = true,
            "the exit status is 0 where it would be 2",
        ),
    ],
};

/// Help.
pub(super) const HELP: Section = Section {
    title: "Help",
    rows: &[
        Row::flag(
            "-version|-v|--version",
            |request| request.print(Print::Version),
            "prints the version",
        ),
        Row::flag(
            "-help|-h|-help-all|-ha",
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
        Row::no_effect("-no-pager", "help is never paged"),
        Row::no_effect("-cols COLUMNS", "help does not depend on the terminal"),
    ],
};
