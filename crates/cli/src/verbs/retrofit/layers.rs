//! A live medium with several images: each gets its own part of a profile.

use anyhow::{Context as _, anyhow};
use coldpress_calibration::Population;
use coldpress_history::{Measured, Study};
use coldpress_host::{Janitor, Scratch};
use coldpress_layout::Kind;
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped, escaped_path, plural};
use coldpress_retrofit::{Account, Original, Report, images, is_above};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_session::work_dir::{self, WorkDir};
use coldpress_trace::Profile;
use coldpress_writer::{Output, Source};

use super::{is_undecided, open, outputs, settings, tell, warn_unproven, zsync_bytes};
use crate::profiles::OrderingProfile;
use crate::recording;
use crate::start::Start;
use crate::steps;
use crate::tuning::{Among, take_best};
use crate::verbs::retrofit::args::RetrofitArgs;
use crate::verbs::retrofit::job::Job;

/// An image, and what of the profile is its own.
struct Layer {
    image: Vec<u8>,
    profile: Profile,
}

/// The images of a live medium with several, if none is named and a profile says what each is
/// needed for; else none.
pub(super) fn several(args: &RetrofitArgs) -> anyhow::Result<Vec<Vec<u8>>> {
    if !is_undecided(args) {
        return Ok(Vec::new());
    }
    let images = images(&args.input).context("cannot look for images")?;
    Ok(if images.len() > 1 { images } else { Vec::new() })
}

/// Replaces each image that has a part of the profile. The output has its name once all are
/// replaced.
pub(super) fn run(args: &RetrofitArgs, images: &[Vec<u8>], ui: &Ui) -> anyhow::Result<Exit> {
    if !args.command.command.is_empty() {
        let error = anyhow!(
            "a command runs inside of one image, and there are {}",
            images.len()
        );
        return Err(hint(
            error,
            "`--image PATH` names the one, or leave the command out",
        ));
    }
    let _hold = ui.interrupt.hold();
    let layers = layers(args, images, ui)?;
    let janitor = Janitor::start()?;
    let (output, zsync_output) = outputs(args)?;
    let scratch = Scratch::create(work_dir::parent(output.path()), &janitor)?;
    let (mut input, mut account, mut is_signed) = (args.input.clone(), Account::default(), false);
    for (index, layer) in layers.iter().enumerate() {
        let original = open(args, (&input, Some(&layer.image)), ui)?;
        is_signed |= original.container.is_signed();
        ui.say(&format!("{}:", escaped(&layer.image)));
        if index + 1 == layers.len() {
            account.add(replace(args, original, layer, &output, &janitor, ui)?);
        } else {
            let between = Output::create(&scratch.path().join(index.to_string()))?;
            account.add(replace(args, original, layer, &between, &janitor, ui)?);
            let path = between.path().to_path_buf();
            steps::commit(between, ui)?;
            input = path;
        }
    }
    let zsync_bytes = zsync_bytes(args, &output)?;
    let original = open(args, (&args.input, images.first()), ui)?;
    let new_bytes = output.file().metadata().map_or(0, |it| it.len());
    let mut report = Report::new(&original, account, escaped_path(args.target()), new_bytes);
    if is_signed {
        report.signature = "dropped";
    }
    steps::commit(output, ui)?;
    if let (Some(bytes), Some(output)) = (zsync_bytes, zsync_output) {
        steps::write_small(output, &bytes)?;
    }
    tell(&report, &original.container, ui);
    warn_unproven(args, ui);
    if args.json {
        ui.json(&Measured {
            study: None::<Study>,
            summary: report,
        })?;
    }
    Ok(Exit::Partial)
}

/// Replaces one image.
fn replace(
    args: &RetrofitArgs,
    original: Original,
    layer: &Layer,
    output: &Output,
    janitor: &Janitor,
    ui: &Ui,
) -> anyhow::Result<Account> {
    let beside = work_dir::parent(output.path());
    let job = Job {
        args,
        scratch: Scratch::create(beside, janitor)?,
        work_dir: WorkDir::create(beside, &[recording::FIRST_IMAGE], Some(janitor))?,
        janitor,
        original,
        command: None,
        ui,
    };
    let (mut settings, is_copied) = settings(args, &job.original)?;
    let mut source = steps::gather(&[job.original.input(is_copied)], &settings, ui)?;
    let start = Start::Profile(layer.profile.clone());
    if args.tune {
        let population = Population::resolve(&args.device.name, ui)?;
        let among = Among::of(&population, vec![Some(job.original.compressor)]);
        source = steps::gather(&[job.original.input(false)], &settings, ui)?;
        take_best(&mut settings, &mut source, Some(&start), among, ui)?;
    }
    let plan = start.plan(&source, settings.block_size);
    job.build(&mut settings, &source, (&plan, Some(&start)), output)
}

/// What of the profile each image has, without what another image hides that lies over it.
fn layers(args: &RetrofitArgs, images: &[Vec<u8>], ui: &Ui) -> anyhow::Result<Vec<Layer>> {
    let profile = OrderingProfile::read(&args.profile)?;
    let profile = profile.ok_or_else(|| anyhow!("there is no profile"))?;
    let mut sources = Vec::new();
    for image in images {
        let original = open(args, (&args.input, Some(image)), ui)?;
        let (settings, _) = settings(args, &original)?;
        let source = steps::gather(&[original.input(false)], &settings, ui)?;
        sources.push((image, source));
    }
    let mut layers = Vec::new();
    for (image, source) in &sources {
        let above = sources.iter().filter(|(other, _)| is_above(other, image));
        let above: Vec<&Source> = above.map(|(_, source)| source).collect();
        let mut profile = profile.matched(source, ui)?.profile;
        profile
            .steps
            .retain(|step| !above.iter().any(|it| hides(it, &step.path)));
        let steps = profile.steps.iter();
        let files = steps.filter(|step| is_file(source, &step.path)).count();
        let name = escaped(image);
        if files == 0 {
            ui.say(&format!("{name} has no file of the profile, and stays"));
            continue;
        }
        let runs = plural(files as u64, "step", "steps");
        ui.say(&format!("{name} has {runs} of the profile"));
        let image = (*image).clone();
        layers.push(Layer { image, profile });
    }
    if layers.is_empty() {
        let error = anyhow!("no image has a file of the profile");
        return Err(hint(error, "record a boot of this medium"));
    }
    Ok(layers)
}

/// Whether a layer has something at a path that is no directory, which the layers below add to.
fn hides(upper: &Source, path: &[u8]) -> bool {
    let found = upper.tree.find(path).map(|node| &upper.tree[node].kind);
    found.is_some_and(|kind| !matches!(kind, Kind::Directory { .. }))
}

fn is_file(source: &Source, path: &[u8]) -> bool {
    let found = source.tree.find(path).map(|node| &source.tree[node].kind);
    matches!(found, Some(Kind::File { .. }))
}
