//! `coldpress retrofit`: record, plan, build and prove, with what is around the image.

pub(crate) mod args;

use std::env;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_bench::{Contestant, Scenario};
use coldpress_history::{Kind, Measured, Study};
use coldpress_host::{Command, Device, Janitor, Scratch};
use coldpress_layout::Plan;
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped_path, printable, quoted};
use coldpress_report::units::bytes;
use coldpress_retrofit::{
    Account, Container, MAKER, Original, Report, STANDING, probe, stand, zsync,
};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_session::work_dir::{self, WorkDir};
use coldpress_session::{external_tool, privileges};
use coldpress_writer::{Input, MetadataLayout, Output, Source};

use crate::device::Target;
use crate::flags::source::SourceArgs;
use crate::profiles::OrderingProfile;
use crate::recording::{self, Recorder, Stage};
use crate::resolve::{self, ImageSettings};
use crate::start::Start;
use crate::tuning::take_best;
use crate::verbs::press::summary;
use crate::verbs::record;
use crate::verbs::retrofit::args::RetrofitArgs;
use crate::{program, steps, study};

pub(super) fn run(args: &RetrofitArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let original = open(args)?;
    let device = Device::parse(&args.device)?;
    let target = Target::resolve(&args.device, ui)?;
    let command = command(args, &original)?;
    let profile = OrderingProfile::read(&args.profile)?;
    let given = args.plan.as_deref().map(steps::read_plan).transpose()?;
    let can_measure = privileges::ask(ui)? && can_stand(&original, ui);
    let recorder = match (&given, &profile) {
        (None, None) => Some(recorder(args, command.as_ref(), ui)?),
        _ => None,
    };
    let _hold = ui.interrupt.hold();
    let janitor = Janitor::start()?;
    let (output, zsync_output) = outputs(args)?;
    let beside = work_dir::parent(output.path());
    let job = Job {
        args,
        scratch: Scratch::create(beside, &janitor)?,
        work_dir: WorkDir::create(beside, &[recording::FIRST_IMAGE], Some(&janitor))?,
        janitor: &janitor,
        original,
        command,
        ui,
    };
    let original = &job.original;
    let (mut settings, is_copied) = settings(args, original)?;
    let mut source = steps::gather(&[original.input(false)], &settings, ui)?;
    let start = match (profile, recorder) {
        (Some(profile), _) => Some(Start::Profile(profile.fresh(&source, ui)?.profile)),
        (None, Some(recorder)) => job.record(recorder, &source, &settings)?,
        (None, None) => None,
    };
    if args.tune {
        let among = (&target, vec![Some(original.compressor)]);
        take_best(&mut settings, &mut source, start.as_ref(), among, ui)?;
    } else if is_copied {
        source = steps::gather(&[original.input(true)], &settings, ui)?;
    }
    let plan = match (given, &start) {
        (Some(plan), _) => plan,
        (None, Some(start)) => start.plan(&source, settings.block_size),
        (None, None) => Plan::default(),
    };
    let account = job.build(&mut settings, &source, &plan, &output)?;
    let new_bytes = output.file().metadata().map_or(0, |it| it.len());
    let mut report = Report::new(original, account, escaped_path(args.target()), new_bytes);
    report.recorded = recorder.is_some();
    let zsync_bytes = zsync_bytes(args, &output)?;
    if can_measure {
        job.stand(&original.path, "before")?;
    }
    steps::commit(output, ui)?;
    if let (Some(bytes), Some(output)) = (zsync_bytes, zsync_output) {
        steps::write_small(output, &bytes)?;
    }
    tell(&report, ui);
    let mut measured = Measured {
        study: None,
        summary: report,
    };
    if let Some(command) = job.command.clone().filter(|_| can_measure) {
        job.stand(args.target(), "after")?;
        measured.study = Some(job.prove(command, device)?);
    } else {
        let target = quoted(args.target());
        ui.warn(&format!(
            "{target} is sound, but nothing shows that it starts faster"
        ));
    }
    measured.summary.proven = measured.study.is_some();
    match &measured.study {
        _ if args.json => ui.json(&measured)?,
        Some(study) => summary::print(study, ui)?,
        None => {}
    }
    let is_lossy = source.losses().next().is_some();
    Ok(Exit::partial_if(is_lossy || !measured.summary.proven))
}

/// The files to write, each at a place of its own.
fn outputs(args: &RetrofitArgs) -> anyhow::Result<(Output, Option<Output>)> {
    let zsync = args.zsync_path();
    let paths: Vec<&Path> = std::iter::once(args.target())
        .chain(zsync.as_deref())
        .collect();
    let sources = [args.input.clone()];
    resolve::check_outputs(&paths, if args.in_place { &[] } else { &sources })?;
    let zsync = zsync.as_deref().map(Output::create).transpose()?;
    Ok((Output::create(args.target())?, zsync))
}

/// What records the start.
fn recorder(
    args: &RetrofitArgs,
    command: Option<&Command>,
    ui: &Ui,
) -> anyhow::Result<&'static Recorder> {
    let Some(command) = command else {
        let error = anyhow!("there is no command to start");
        return Err(hint(error, "write it at the end, after `--`"));
    };
    recording::choose(args.recorder.recorder, command.chroot, &args.input, ui)
}

/// Opens the file, and refuses what may not become another.
fn open(args: &RetrofitArgs) -> anyhow::Result<Original> {
    let path = quoted(&args.input);
    let opened = Original::open(&args.input);
    let Some(original) = opened.with_context(|| format!("cannot retrofit {path}"))? else {
        let error = anyhow!("{path} is neither an AppImage of type 2 nor a SIF container");
        let advice = "`coldpress press` builds an image from a directory";
        return Err(hint(error, advice));
    };
    if original.container.is_signed() && !args.drop_signature {
        let error = anyhow!("{path} is signed, and its signature does not hold for another image");
        let advice = "`--drop-signature` writes the new file without; sign that then";
        return Err(hint(error, advice));
    }
    Ok(original)
}

/// What is started: an AppImage as its program does it, a container from the inside.
fn command(args: &RetrofitArgs, original: &Original) -> anyhow::Result<Option<Command>> {
    let mut command = program::of_image(&args.command)?;
    if let Container::Sif(_) = original.container {
        command.chroot = true;
        return Ok((!command.args.is_empty()).then_some(command));
    }
    if command.chroot {
        let error = anyhow!("an AppImage is not started inside itself");
        return Err(hint(error, "leave --chroot out"));
    }
    let directory = env::current_dir().context("cannot find the current directory")?;
    command.args = original.start(&directory, command.args);
    Ok(Some(command))
}

/// The settings of the new image, and whether blocks are copied. What is not asked for is as it was.
fn settings(args: &RetrofitArgs, original: &Original) -> anyhow::Result<(ImageSettings, bool)> {
    let mut options = args.image_options.clone();
    if options.compressor.is_some() || options.level.is_some() || options.block_size.is_some() {
        let own = resolve::compressor_name(original.compressor);
        options.compressor = options.compressor.or(own);
        let own = u64::from(original.block_size.bytes());
        options.block_size.get_or_insert(own);
    }
    let mut settings = ImageSettings::resolve(&options, &SourceArgs::default(), &[])?;
    let mut inputs = [original.input(false)];
    settings.adopt(&options, &mut inputs)?;
    let [input] = inputs;
    let is_copied = matches!(input, Input::Image { is_copied, .. } if is_copied);
    Ok((settings, is_copied))
}

/// Whether the file can be put where its starts are measured; says what is missing.
fn can_stand(original: &Original, ui: &Ui) -> bool {
    let is_app = matches!(original.container, Container::AppImage(_));
    let can = !is_app || external_tool::is_installed(MAKER);
    if !can {
        ui.warn(&format!(
            "nothing is measured: {MAKER} (e2fsprogs) is not installed"
        ));
    }
    can
}

fn tell(report: &Report, ui: &Ui) {
    let (new, old) = (bytes(report.new_bytes), bytes(report.old_bytes));
    ui.say(&format!("{}: {new}, before {old}; verified", report.file));
    for sentence in report.sentences() {
        ui.say(&sentence);
    }
    if report.signature == "dropped" {
        ui.warn(&format!("{} has no signature any more", report.file));
    }
}

/// The zsync file, if one is wanted.
fn zsync_bytes(args: &RetrofitArgs, output: &Output) -> anyhow::Result<Option<Vec<u8>>> {
    let Some(url) = &args.zsync else {
        return Ok(None);
    };
    let name = output.path().file_name().unwrap_or_default();
    let bytes = zsync(output.file(), name.as_encoded_bytes(), url.as_bytes());
    Ok(Some(bytes.context("cannot read the new file back")?))
}

/// A file whose image is being replaced.
struct Job<'a> {
    args: &'a RetrofitArgs,
    original: Original,
    /// `None` of a container if none was given.
    command: Option<Command>,
    work_dir: WorkDir<'a>,
    scratch: Scratch,
    janitor: &'a Janitor,
    ui: &'a Ui,
}

impl Job<'_> {
    /// A start of the old image.
    fn record(
        &self,
        recorder: &Recorder,
        source: &Source,
        settings: &ImageSettings,
    ) -> anyhow::Result<Option<Start>> {
        let Some(command) = &self.command else {
            return Ok(None);
        };
        let stage = Stage {
            source,
            name: &self.args.input,
            command,
            limit: None,
            settings,
            work_dir: &self.work_dir,
            janitor: self.janitor,
            ui: self.ui,
        };
        Ok(Some(Start::Trace(record::told(recorder, &stage)?)))
    }

    /// The new file, compared with the old one in all that was to stay.
    fn build(
        &self,
        settings: &mut ImageSettings,
        source: &Source,
        plan: &Plan,
        output: &Output,
    ) -> anyhow::Result<Account> {
        let Self { original, ui, .. } = self;
        settings.offset_bytes = original.start;
        settings.is_padded = original.container.is_padded();
        let options = settings.build_options(&source.tree, MetadataLayout::Dense);
        let other = settings.compression.map(|it| it.compressor);
        let other = other.filter(|it| *it != original.compressor);
        if let (Some(other), Container::AppImage(_)) = (other, &original.container) {
            let mut stop = || ui.interrupt.is_pending();
            let said = probe(original, &options, self.scratch.path(), &mut stop);
            if let Some(said) = said.context("cannot ask the AppImage what it reads")? {
                let said = printable(said.trim_ascii());
                let error = anyhow!("the AppImage's program reads no images of {other}: {said}");
                let advice = "without --compressor the image keeps the one it has";
                return Err(hint(error, advice));
            }
        }
        let order = steps::order(source, plan, settings, ui);
        let built = steps::write("pressing", source, &order, output, &options, ui)?;
        steps::verify(output, source, &built, original.start, ui)?;
        let completed = original.complete(output.file(), built.image_bytes, self.args.in_place);
        completed.with_context(|| format!("cannot complete {}", quoted(output.path())))
    }

    /// Makes what is measured.
    fn stand(&self, file: &Path, name: &str) -> anyhow::Result<()> {
        let to = self.scratch.path().join(name);
        let mut stop = || self.ui.interrupt.is_pending();
        stand(&self.original.container, file, &to, &mut stop)
            .context("cannot prepare the comparison")
    }

    /// Measures starts of both files in turn: AppImages by their own program.
    fn prove(&self, mut command: Command, device: Device) -> anyhow::Result<Study> {
        let contestants = ["before", "after"]
            .map(|name| Contestant::image(name, &self.scratch.path().join(name)));
        if !command.chroot {
            command.args = vec![format!("{{root}}/{STANDING}").into()];
            command.args.extend(self.args.command.command.clone());
        }
        let scenario = Scenario {
            kind: Kind::Press,
            title: format!("coldpress retrofit {}", self.args.input.display()),
            command,
            device,
            runs: self.args.runs.get(),
            seed: study::seed(),
            walk: false,
        };
        let directory = self.work_dir.path();
        study::measure(&scenario, &contestants, directory, self.janitor, self.ui)
            .map_err(|error| hint(error, "the new file is in place; only the proof is missing"))
    }
}
