//! `coldpress record`: a start of a source, or what is used of a mounted image, as a trace.

pub(crate) mod args;
mod boot;
mod numbered;
mod vm;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use coldpress_host::{Command, Janitor};
use coldpress_report::failure::hint;
use coldpress_report::text::plural;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_session::work_dir::{self, WorkDir};
use coldpress_trace::{Trace, WorkingSet, in_common};
use coldpress_writer::Output;

use self::numbered::Numbered;
use crate::containers;
use crate::flags::recorder::RecorderName;
use crate::program;
use crate::recording::{self, Cost, Recorder, Stage};
use crate::resolve::{self, ImageSettings};
use crate::steps;
use crate::verbs::record::args::RecordArgs;

/// Where the first image lies when the trace goes to standard output: not `/tmp`, which may be in
/// memory.
const WORK_PARENT: &str = "/var/tmp";

pub(super) fn run(args: &RecordArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if args.guest.kernel.is_some() && !args.vm {
        let error = anyhow!("a kernel is booted only with --vm");
        return Err(hint(error, "add --vm, or leave --kernel out"));
    }
    match (&args.boot, &args.mounted, &args.source) {
        (Some(units), Some(mounted), _) => boot::write_units(units, mounted, args, ui),
        (_, Some(mounted), _) => record_mounted(mounted, args, ui),
        (_, None, Some(source)) if args.vm => vm::record(source, args, ui),
        (_, None, Some(source)) => record_source(source, args, ui),
        // The command line demands one of them.
        (_, None, None) => Ok(Exit::Done),
    }
}

fn record_source(source: &Path, args: &RecordArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let mut settings = ImageSettings::for_recording()?;
    let is_inside = program::is_inside(&args.command, source);
    resolve::check_source(source, is_inside)?;
    let mut command = resolve_command(args, source)?;
    let outputs = Numbered::resolve(args.output.as_deref(), args.runs)?;
    let paths: Vec<&Path> = outputs.paths.iter().map(PathBuf::as_path).collect();
    let name = source.to_path_buf();
    resolve::check_outputs(&paths, std::slice::from_ref(&name))?;
    let recorder = recording::choose(args.recorder.recorder, is_inside, source, ui)?;
    if args.readahead.is_given() && recorder.name() != RecorderName::Kernel.text() {
        let error = anyhow!(
            "`--readahead` sets that of a mount through the kernel, and `{}` records without one",
            recorder.name()
        );
        return Err(hint(
            error,
            "leave it out, or record with `--recorder kernel`",
        ));
    }
    // Files are compared for an image only.
    settings.deduplicated = recorder.builds_image();
    let _hold = ui.interrupt.hold();
    // A wrong place is told before the recording.
    let outputs = outputs.create()?;
    let janitor = Janitor::start()?;
    let (inputs, config) = containers::started(&name, &args.container, ui)?;
    program::complete(&mut command, &args.command, config.as_ref())?;
    let source = steps::gather(&inputs, &settings, ui)?;
    resolve::check_tree(&name, &source.tree, is_inside)?;
    let parent = outputs.first().map_or(Path::new(WORK_PARENT), |output| {
        work_dir::parent(output.path())
    });
    let work_dir = WorkDir::create(parent, &[recording::FIRST_IMAGE], Some(&janitor))?;
    let stage = Stage {
        source: &source,
        name: &name,
        command: &command,
        limit: limit(args),
        readahead: args.readahead.one()?,
        settings: &settings,
        work_dir: &work_dir,
        janitor: &janitor,
        ui,
    };
    record_runs(recorder, &stage, args, outputs)
}

/// Makes the recordings, and tells of them what was asked.
fn record_runs(
    recorder: &Recorder,
    stage: &Stage<'_>,
    args: &RecordArgs,
    outputs: Vec<Output>,
) -> anyhow::Result<Exit> {
    let ui = stage.ui;
    let mut outputs = outputs.into_iter();
    let mut cost = Cost::default();
    let mut sets = Vec::new();
    for _ in 0..args.runs.get() {
        if args.cost {
            cost.time_unrecorded(recorder, stage)?;
        }
        let trace = recorder.record(stage)?;
        cost.note(&trace);
        let set = trace.working_set();
        ui.say(&format!("{}: {}", recorder.name(), summary(&trace, &set)));
        sets.push(set);
        put(&trace, outputs.next(), ui)?;
    }
    if let Some(sentence) = cost.sentence() {
        ui.say(&sentence);
    }
    if sets.len() > 1 {
        let tree = &stage.source.tree;
        let block_bytes = stage.settings.block_size.bytes();
        let size_bytes = |path: &[u8]| tree.file_size(tree.find(path)?);
        ui.say(&in_common(&sets, block_bytes.into(), &size_bytes));
    }
    Ok(Exit::Done)
}

fn record_mounted(mounted: &Path, args: &RecordArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let command = match args.command.command.first() {
        Some(_) => Some(resolve_command(args, mounted)?),
        None => None,
    };
    let ready = program::ready(&args.command)?;
    let paths: Vec<&Path> = args.output.iter().map(PathBuf::as_path).collect();
    resolve::check_outputs(&paths, &[])?;
    let _hold = ui.interrupt.hold();
    let output = args.output.as_deref().map(Output::create).transpose()?;
    let until = recording::Until {
        command: command.as_ref(),
        ready: &ready,
        limit: limit(args),
    };
    let trace = recording::record_mounted(mounted, &until, ui)?;
    ui.say(&summary(&trace, &trace.working_set()));
    put(&trace, output, ui)?;
    Ok(Exit::Done)
}

/// The command, which is not too late if the time of its start is limited.
fn resolve_command(args: &RecordArgs, source: &Path) -> anyhow::Result<Command> {
    let mut command = program::resolve(&args.command, source)?;
    if args.limit_s.is_some() {
        command.timeout_s = 0;
    }
    Ok(command)
}

fn limit(args: &RecordArgs) -> Option<Duration> {
    args.limit_s
        .map(|limit_s| Duration::from_secs(limit_s.get()))
}

/// Writes a trace to its file or to standard output.
pub(super) fn put(trace: &Trace, output: Option<Output>, ui: &Ui) -> anyhow::Result<()> {
    if let Some(output) = output {
        return write_trace(trace, output);
    }
    let mut out = ui.out();
    trace.write(&mut out)?;
    Ok(out.flush()?)
}

/// Records a start, and says what of it there is.
///
/// # Errors
///
/// As [`Recorder::record`].
pub(super) fn told(recorder: &Recorder, stage: &Stage<'_>) -> anyhow::Result<Trace> {
    let trace = recorder.record(stage)?;
    let summary = summary(&trace, &trace.working_set());
    stage.ui.say(&format!("{}: {summary}", recorder.name()));
    Ok(trace)
}

/// Writes a trace to its file.
pub(super) fn write_trace(trace: &Trace, output: Output) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    trace.write(&mut bytes)?;
    steps::write_small(output, &bytes)
}

/// `recorded 1,204 events: 152 files read, 730 lookups, 41 directories searched`
pub(super) fn summary(trace: &Trace, set: &WorkingSet) -> String {
    format!(
        "recorded {}: {} read, {}, {} searched",
        plural(trace.events.len() as u64, "event", "events"),
        plural(set.files.len() as u64, "file", "files"),
        plural(set.lookups.len() as u64, "lookup", "lookups"),
        plural(set.lists.len() as u64, "directory", "directories"),
    )
}
