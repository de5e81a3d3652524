//! `coldpress retrofit`: record, plan, build and prove, with what is around the image.

pub(crate) mod args;
mod job;
mod layers;

use std::env;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_bench::{rows, text::floors};
use coldpress_calibration::Population;
use coldpress_history::{Measured, Study};
use coldpress_host::{Command, Device, Janitor, Scratch};
use coldpress_layout::Plan;
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped_path, quoted};
use coldpress_report::units::bytes;
use coldpress_retrofit::{
    Container, Error, MAKER, Original, Report, Rule, SIGNER, check_signable, zsync,
};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_session::work_dir::{self, WorkDir};
use coldpress_session::{external_tool, privileges};
use coldpress_writer::{Input, Output};

use crate::flags::source::SourceArgs;
use crate::profiles::OrderingProfile;
use crate::recording::{self, Recorder};
use crate::resolve::{self, ImageSettings};
use crate::start::Start;
use crate::tuning::{Among, take_best};
use crate::verbs::press::summary;
use crate::verbs::retrofit::args::RetrofitArgs;
use crate::verbs::retrofit::job::Job;
use crate::{program, steps};

pub(super) fn run(args: &RetrofitArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match layers::several(args)?.as_slice() {
        [] => replace(args, ui),
        images => layers::run(args, images, ui),
    }
}

/// Replaces the image of a file that has one, or the one that was named.
fn replace(args: &RetrofitArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let wanted = args.image.as_ref().map(|it| it.as_bytes().to_vec());
    let original = open(args, (&args.input, wanted.as_ref()), ui)?;
    let device = Device::parse(&args.device.name)?;
    let population = Population::resolve(&args.device.name, ui)?;
    let command = command(args, &original)?;
    let profile = OrderingProfile::read(&args.profile)?;
    let given = args.plan.as_deref().map(steps::read_plan).transpose()?;
    let can_measure = privileges::ask(ui)? && can_stand(&original, ui);
    let recorder = match (&given, &profile) {
        (None, None) => recorder(args, &original, command.as_ref(), ui)?,
        _ => None,
    };
    let _hold = ui.interrupt.hold();
    let janitor = Janitor::start()?;
    let (output, zsync_output) = outputs(args)?;
    let beside = work_dir::parent(output.path());
    let scratch = Scratch::create(beside, &janitor)?;
    let command = of_snap(command, &original, scratch.path())?;
    let job = Job {
        args,
        scratch,
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
        let among = Among::of(&population, vec![Some(original.compressor)]);
        take_best(&mut settings, &mut source, start.as_ref(), among, ui)?;
    } else if is_copied {
        source = steps::gather(&[original.input(true)], &settings, ui)?;
    }
    let plan = match (given, &start) {
        (Some(plan), _) => plan,
        (None, Some(start)) => start.plan(&source, settings.block_size),
        (None, None) => Plan::default(),
    };
    let account = job.build(&mut settings, &source, (&plan, start.as_ref()), &output)?;
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
    tell(&report, &original.container, ui);
    let mut measured = Measured {
        study: None,
        summary: report,
    };
    if let Some(command) = job.command.clone().filter(|_| can_measure) {
        job.stand(args.target(), "after")?;
        measured.study = Some(job.prove(command, device)?);
    } else {
        warn_unproven(args, ui);
    }
    measured.summary.proven = measured.study.is_some();
    match &measured.study {
        _ if args.json => ui.json(&measured)?,
        Some(study) => print(study, original, ui)?,
        None => {}
    }
    let is_lossy = source.losses().next().is_some();
    Ok(Exit::partial_if(is_lossy || !measured.summary.proven))
}

fn print(study: &Study, original: &Original, ui: &Ui) -> anyhow::Result<()> {
    summary::print(study, ui)?;
    let is_app = matches!(original.container, Container::AppImage(_));
    if is_app && !floors(&rows(study)).is_empty() {
        ui.say("these programs are the application and the AppImage's own runtime");
    }
    Ok(())
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

/// What records the start; `None` for a live medium without one.
fn recorder(
    args: &RetrofitArgs,
    original: &Original,
    command: Option<&Command>,
    ui: &Ui,
) -> anyhow::Result<Option<&'static Recorder>> {
    let Some(command) = command else {
        if let Container::Iso(_) = original.container {
            ui.warn("no profile and no command: files have the order of their directories");
            return Ok(None);
        }
        let error = anyhow!("there is no command to start");
        return Err(hint(error, "write it at the end, after `--`"));
    };
    recording::choose(args.recorder.recorder, command.chroot, &args.input, ui).map(Some)
}

/// Opens the file, and refuses what may not become another.
fn open(
    args: &RetrofitArgs,
    (input, wanted): (&Path, Option<&Vec<u8>>),
    ui: &Ui,
) -> anyhow::Result<Original> {
    let path = quoted(&args.input);
    let wanted = wanted.map(Vec::as_slice);
    let opened = Original::open(input, wanted).map_err(|error| {
        let is_unclear = matches!(
            &error,
            Error::Refused {
                rule: Rule::Several { .. },
                ..
            }
        );
        let error = anyhow!(error).context(format!("cannot retrofit {path}"));
        if is_unclear {
            hint(
                error,
                "`--image PATH` names the one to replace; `--profile` serves all",
            )
        } else {
            error
        }
    });
    let Some(original) = opened? else {
        let error = anyhow!("{path} is no AppImage of type 2, SIF container, live ISO or snap");
        let advice = "`coldpress press` builds an image from a directory";
        return Err(hint(error, advice));
    };
    let is_snap = matches!(original.container, Container::Snap(_));
    if is_snap && !args.sideload {
        let error = anyhow!(
            "{path} is a snap: the store's assertion names its digest, so a snap of the store \
            keeps \
             its bytes"
        );
        let advice = "`--sideload` writes one for `snap install --dangerous`; for a snap of the \
                      store, `coldpress prefetch` reads a profile ahead (docs/retrofit.md)";
        return Err(hint(error, advice));
    }
    if args.sideload && !is_snap {
        let error = anyhow!("{path} is no snap");
        return Err(hint(error, "leave --sideload out"));
    }
    if let Some(key) = &args.sign {
        check_key(&original, key, ui)?;
    } else if original.container.is_signed() && !args.drop_signature {
        let error = anyhow!("{path} is signed, and its signature does not hold for another image");
        let advice =
            "`--drop-signature` writes the new file without, and `--sign KEY` signs an AppImage";
        return Err(hint(error, advice));
    }
    Ok(original)
}

/// Refuses what cannot be signed.
fn check_key(original: &Original, key: &str, ui: &Ui) -> anyhow::Result<()> {
    let Container::AppImage(app) = &original.container else {
        let error = anyhow!("only AppImages are signed here");
        let advice = "leave --sign out; `siftool sign` and `gpg` sign the other files afterwards";
        return Err(hint(error, advice));
    };
    if !external_tool::is_installed(SIGNER) {
        let error = anyhow!("{SIGNER} is not installed, and makes the signature");
        return Err(hint(error, "install GnuPG (gnupg), or leave --sign out"));
    }
    let mut stop = || ui.interrupt.is_pending();
    Ok(check_signable(app, key, &mut stop)?)
}

/// What is started: an AppImage as its program does it, a container from the inside, a snap as it
/// is asked for.
fn command(args: &RetrofitArgs, original: &Original) -> anyhow::Result<Option<Command>> {
    let mut command = program::of_image(&args.command)?;
    if !matches!(original.container, Container::AppImage(_)) {
        command.chroot |= !matches!(original.container, Container::Snap(_));
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

/// A snap's app as snapd starts it, unless it is started inside the image.
fn of_snap(
    command: Option<Command>,
    original: &Original,
    scratch: &Path,
) -> anyhow::Result<Option<Command>> {
    match (command, &original.container) {
        (Some(mut command), Container::Snap(snap)) if !command.chroot => {
            let variable = |name: &str| env::var(name).ok();
            command.args = snap.start(&command.args, &scratch.join("snap"), &variable)?;
            Ok(Some(command))
        }
        (command, _) => Ok(command),
    }
}

/// The settings of the new image, and whether blocks are copied. What is not asked for is as it
/// was.
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

fn tell(report: &Report, container: &Container, ui: &Ui) {
    let (new, old) = (bytes(report.new_bytes), bytes(report.old_bytes));
    ui.say(&format!("{}: {new}, before {old}; verified", report.file));
    for sentence in report.sentences() {
        ui.say(&sentence);
    }
    if let Container::Snap(_) = container {
        ui.say(&format!(
            "install it: snap install --dangerous {}",
            report.file
        ));
    }
    if report.signature == "dropped" {
        ui.warn(&format!("{} has no signature any more", report.file));
    }
}

fn warn_unproven(args: &RetrofitArgs, ui: &Ui) {
    let target = quoted(args.target());
    ui.warn(&format!(
        "{target} is sound, but nothing shows that it starts faster"
    ));
}

/// Whether a profile says what is needed, and nothing which image it is in.
fn is_undecided(args: &RetrofitArgs) -> bool {
    args.image.is_none() && args.plan.is_none() && args.profile.profile.is_some()
}

/// The zsync file, if one is wanted.
fn zsync_bytes(args: &RetrofitArgs, output: &Output) -> anyhow::Result<Option<Vec<u8>>> {
    let Some(url) = &args.zsync else {
        return Ok(None);
    };
    let name = output.path().file_name().unwrap_or_default();
    let bytes = zsync(output.file(), name.as_encoded_bytes(), url.as_bytes());
    Ok(Some(bytes.context("cannot make the zsync file")?))
}
