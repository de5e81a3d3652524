//! Recording a start of a source, by the best recorder that this process may use.
//!
//! | recorder | sees | needs |
//! |---|---|---|
//! | `kernel` | every page, every lookup, from a mounted image, proven cold | root, tracefs |
//! | `fuse` | every page, every lookup, from an image mounted in user space, new to the kernel | `/dev/fuse`; root or fusermount3 |
//! | `opens` | every file that is opened and every name that is looked up, in the directory itself | - |
//!
//! The best stands first in [`RECORDERS`]; [`choose`] takes it or says why it cannot. A recorder is
//! a function from a [`Stage`] to a [`Trace`], and another that runs the same start unrecorded, so
//! that its cost can be told.

mod choice;
mod cost;
mod fuse;
mod kernel;
mod mounted;
mod opens;

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use coldpress_format::BlockSize;
use coldpress_host::{
    Cgroup, Command, Error, Janitor, Outcome, Readahead, Ready, Running, machine,
};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;
use coldpress_session::work_dir::WorkDir;
use coldpress_trace::{Header, PAGE_SIZE_BYTES, Trace};
use coldpress_writer::Source;

pub(crate) use choice::{choose, choose_for_archives};
pub(crate) use cost::Cost;
pub(crate) use mounted::{Until, record_mounted};

use crate::flags::recorder::RecorderName;
use crate::resolve::ImageSettings;

/// The image that is recorded, in the work directory.
pub(crate) const FIRST_IMAGE: &str = "first.sqfs";

/// One way to record.
#[derive(Debug)]
pub(crate) struct Recorder {
    name: RecorderName,
    /// Whether it starts from an image of the source, rather than from the directory.
    builds_image: bool,
    /// Whether it knows which page of a file a program needed, also where the kernel maps those
    /// around it.
    sees_single_pages: bool,
    /// What of it this process lacks, if anything.
    missing: fn(chroot: bool) -> Option<String>,
    record: fn(&Stage<'_>) -> anyhow::Result<Trace>,
    /// Runs the start that is recorded, unrecorded; returns what it took, in ns.
    unrecorded: fn(&Stage<'_>) -> anyhow::Result<u64>,
}

/// From the best to the last resort.
static RECORDERS: [Recorder; 3] = [
    Recorder {
        name: RecorderName::Kernel,
        builds_image: true,
        sees_single_pages: false,
        missing: kernel::missing,
        record: kernel::record,
        unrecorded: kernel::unrecorded,
    },
    Recorder {
        name: RecorderName::Fuse,
        builds_image: true,
        sees_single_pages: true,
        missing: fuse::missing,
        record: fuse::record,
        unrecorded: fuse::unrecorded,
    },
    Recorder {
        name: RecorderName::Opens,
        builds_image: false,
        sees_single_pages: false,
        missing: opens::missing,
        record: opens::record,
        unrecorded: opens::unrecorded,
    },
];

impl Recorder {
    /// As in `--recorder`.
    pub(crate) fn name(&self) -> &'static str {
        self.name.text()
    }

    /// Whether content of the source matters, not only its names.
    pub(crate) fn builds_image(&self) -> bool {
        self.builds_image
    }

    /// Records a start.
    ///
    /// # Errors
    ///
    /// If the start cannot be prepared or would not be what the recorder promises, the command
    /// fails, or events were lost.
    pub(crate) fn record(&self, stage: &Stage<'_>) -> anyhow::Result<Trace> {
        (self.record)(stage)
    }
}

/// What a start is recorded from, and how it ends.
pub(crate) struct Stage<'a> {
    pub(crate) source: &'a Source,
    /// The directory that `source` was gathered from, as it was typed.
    pub(crate) name: &'a Path,
    pub(crate) command: &'a Command,
    /// After which time the start is over, whether or not the command is ready.
    pub(crate) limit: Option<Duration>,
    /// Of the mount that the kernel's events are recorded of.
    pub(crate) readahead: Readahead,
    /// How an image of the source is written.
    pub(crate) settings: &'a ImageSettings,
    /// For the image and the place to mount it; [`FIRST_IMAGE`] may be there already, from an
    /// earlier recording.
    pub(crate) work_dir: &'a WorkDir<'a>,
    pub(crate) janitor: &'a Janitor,
    pub(crate) ui: &'a Ui,
}

/// What a recorder knows of a recording, for the header of its trace.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) recorder: &'static str,
    /// Whether the start was cold, and what shows it.
    pub(crate) cold: String,
    pub(crate) read_ahead_kib: Option<u64>,
    /// Of the image that was recorded from.
    pub(crate) block_size: Option<BlockSize>,
    pub(crate) lost_events: u64,
    /// How long the start took while it was recorded.
    pub(crate) wall_ns: u64,
}

impl Stage<'_> {
    /// Starts the command, waits until its start is over, calls `over`, and ends the command with
    /// all that it left running.
    ///
    /// # Errors
    ///
    /// If the command could not be started or did not start as it should, or `over` fails.
    fn run<T>(
        &self,
        start: impl FnOnce(Option<&Cgroup>) -> Result<Running, Error>,
        over: impl FnOnce() -> Result<T, Error>,
    ) -> anyhow::Result<(T, Outcome)> {
        // Whatever the command leaves running would hold the mount. Who may not make cgroups finds
        // what stays in the process group.
        let cgroup = Cgroup::create("record").ok();
        if let Some(cgroup) = &cgroup {
            self.janitor.watch(cgroup.leftover());
        }
        let mut interrupted = || self.ui.interrupt.is_pending();
        let mut running = start(cgroup.as_ref())?;
        running.wait_at_most(self.limit, &mut interrupted)?;
        // How a program that is ready ends is no part of its start.
        let recorded = over()?;
        let outcome = running.finish(&mut interrupted)?;
        if let Some(cgroup) = cgroup {
            let leftover = cgroup.leftover();
            drop(cgroup);
            self.janitor.forget(&leftover);
        }
        check(&outcome, self.command)?;
        Ok((recorded, outcome))
    }

    /// The header of a trace.
    fn header(&self, about: About) -> Header {
        let words: Vec<String> = self
            .command
            .args
            .iter()
            .map(|arg| arg.display().to_string())
            .collect();
        header(&self.name.display().to_string(), &words.join(" "), about)
    }

    /// A trace without events is one of the wrong command.
    fn demand_events(&self, trace: Trace) -> anyhow::Result<Trace> {
        if trace.events.is_empty() {
            let program = quoted_program(self.command);
            let error = anyhow!("{program}, started to be recorded, used no file of the source");
            return Err(hint(
                error,
                "write `{root}/...` for files of the image, or run the command inside it with \
                --chroot",
            ));
        }
        Ok(trace)
    }
}

/// Refuses a command that failed, with the end of what it said.
///
/// # Errors
///
/// If it was not ready in time, or failed before.
pub(crate) fn check(outcome: &Outcome, command: &Command) -> anyhow::Result<()> {
    if outcome.became_ready {
        return Ok(());
    }
    let awaits_end = command.ready == Ready::Exit;
    let how = match (
        outcome.timed_out,
        outcome.status.code,
        outcome.status.signal,
    ) {
        (true, ..) if awaits_end => format!("did not end within {} s", command.timeout_s),
        (true, ..) => format!(
            "was not ready (`{}`) within {} s",
            command.ready.text(),
            command.timeout_s
        ),
        (_, Some(code), _) if !awaits_end => format!(
            "ended with exit status {code} before it was ready (`{}`)",
            command.ready.text()
        ),
        (_, Some(code), _) => format!("failed with exit status {code}"),
        (_, _, Some(signal)) => format!("was killed by signal {signal}"),
        _ => "ended in an unknown way".to_owned(),
    };
    let said = coldpress_report::text::printable(outcome.stderr_tail.trim_ascii());
    let said = if said.is_empty() {
        "it said nothing".to_owned()
    } else {
        format!("it said: {said}")
    };
    let program = quoted_program(command);
    let error = anyhow!("{program}, started to be recorded, {how}; {said}");
    let advice = if outcome.timed_out {
        "raise --timeout, give a command that ends by itself, or state with --ready or --for when \
         it has started"
    } else {
        "the program starts from a read-only directory, which is its root directory only with \
         --chroot"
    };
    Err(hint(error, advice))
}

/// The program of a command, for sentences.
pub(crate) fn quoted_program(command: &Command) -> String {
    quoted(Path::new(
        command
            .args
            .first()
            .map_or("".as_ref(), |arg| arg.as_os_str()),
    ))
}

pub(crate) fn header(source: &str, command: &str, about: About) -> Header {
    let About {
        recorder,
        cold,
        read_ahead_kib,
        block_size,
        lost_events,
        wall_ns,
    } = about;
    let fields = [
        (
            "block-size",
            block_size.map(|block_size| block_size.bytes().to_string()),
        ),
        ("cold", Some(cold)),
        ("command", Some(command.to_owned())),
        ("kernel", Some(machine().kernel)),
        ("lost-events", Some(lost_events.to_string())),
        ("page-size", Some(PAGE_SIZE_BYTES.to_string())),
        (
            "read-ahead-kib",
            read_ahead_kib.map(|read_ahead_kib| read_ahead_kib.to_string()),
        ),
        ("recorder", Some(recorder.to_owned())),
        ("source", Some(source.to_owned())),
        ("wall-us", Some((wall_ns / 1_000).to_string())),
    ];
    // A value is one line of the file.
    let one_line = |value: String| {
        value
            .replace(|c: char| c.is_control(), " ")
            .trim()
            .to_owned()
    };
    let fields = fields
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), one_line(value?))));
    Header {
        fields: fields.collect(),
    }
}
