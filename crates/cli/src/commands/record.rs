//! `coldpress record`: a first image, a cold start from it, a trace.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use coldpress_build::{Input, Output};
use coldpress_host::Janitor;
use coldpress_trace::Trace;

use crate::args::RecordArgs;
use crate::exit::Exit;
use crate::resolve::{self, ImageSettings};
use crate::text::plural;
use crate::ui::Ui;
use crate::work_dir::{self, WorkDir};
use crate::{privileges, program, recording, steps};

/// Where the first image lies when the trace goes to standard output: not `/tmp`, which may be in
/// memory.
const WORK_PARENT: &str = "/var/tmp";

pub(super) fn run(args: &RecordArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let settings = ImageSettings::for_recording()?;
    resolve::check_source(&args.source, args.command.chroot)?;
    let command = program::resolve(&args.command, &args.source)?;
    let outputs: Vec<&Path> = args.output.iter().map(PathBuf::as_path).collect();
    resolve::check_outputs(&outputs, std::slice::from_ref(&args.source))?;
    privileges::demand("recording")?;
    let _hold = ui.interrupt.hold();
    // A wrong place is told before the recording.
    let output = args.output.as_deref().map(Output::create).transpose()?;
    let janitor = Janitor::start()?;
    let source = steps::gather(&[Input::Directory(args.source.clone())], &settings, ui)?;
    let parent = output.as_ref().map_or(Path::new(WORK_PARENT), |output| {
        work_dir::parent(output.path())
    });
    let work_dir = WorkDir::create(parent, &[recording::FIRST_IMAGE], Some(&janitor))?;
    let name = &args.source;
    let trace = recording::record(&source, name, &command, &settings, &work_dir, &janitor, ui)?;
    if let Some(output) = output {
        write_trace(&trace, output)?;
    } else {
        let mut out = ui.out();
        trace.write(&mut out)?;
        out.flush()?;
    }
    ui.say(&summary(&trace));
    Ok(Exit::Done)
}

/// Writes a trace to its file.
pub(super) fn write_trace(trace: &Trace, output: Output) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    trace.write(&mut bytes)?;
    steps::write_small(output, &bytes)
}

/// `recorded 1,204 events: 152 files read, 730 lookups, 41 directories searched`
pub(super) fn summary(trace: &Trace) -> String {
    let set = trace.working_set();
    format!(
        "recorded {}: {} read, {}, {} searched",
        plural(trace.events.len() as u64, "event", "events"),
        plural(set.files.len() as u64, "file", "files"),
        plural(set.lookups.len() as u64, "lookup", "lookups"),
        plural(set.lists.len() as u64, "directory", "directories"),
    )
}
