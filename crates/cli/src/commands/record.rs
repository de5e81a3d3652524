//! `coldpress record`: a first image, a cold start from it, a trace.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use coldpress_build::Output;
use coldpress_host::Janitor;
use coldpress_trace::Trace;

use crate::args::RecordArgs;
use crate::exit::Exit;
use crate::resolve::{self, ImageSettings};
use crate::text::{plural, quoted};
use crate::ui::Ui;
use crate::work_dir::{self, WorkDir};
use crate::{privileges, program, recording, steps};

/// Where the first image lies when the trace goes to standard output: not `/tmp`, which may be in
/// memory.
const WORK_PARENT: &str = "/var/tmp";

pub(super) fn run(args: &RecordArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let settings = ImageSettings::for_recording()?;
    resolve::check_source_directory(&args.source)?;
    privileges::demand("recording")?;
    let _hold = ui.interrupt.hold();
    let janitor = Janitor::start()?;
    let source = steps::scan(std::slice::from_ref(&args.source), &settings, ui)?;
    let command = program::resolve(&args.command, &args.source);
    let parent = args
        .output
        .as_deref()
        .map_or(Path::new(WORK_PARENT), work_dir::parent);
    let work_dir = WorkDir::create(parent, &[recording::FIRST_IMAGE], Some(&janitor))?;
    let name = &args.source;
    let trace = recording::record(&source, name, &command, &settings, &work_dir, &janitor, ui)?;
    if let Some(path) = &args.output {
        write_trace(&trace, path)?;
    } else {
        let mut out = ui.out();
        trace.write(&mut out)?;
        out.flush()?;
    }
    ui.say(&summary(&trace));
    Ok(Exit::Done)
}

/// Writes a trace to a file, in one step.
pub(super) fn write_trace(trace: &Trace, path: &Path) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    trace.write(&mut bytes)?;
    write_file(path, &bytes)
}

/// Writes a small file beside its destination and puts it in place.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let output = Output::create(path)?;
    output
        .file()
        .write_all(bytes)
        .with_context(|| format!("cannot write {}", quoted(path)))?;
    Ok(output.commit()?)
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
