//! `coldpress press`: record, plan, build, verify, prove.

mod archives;
pub(crate) mod args;
mod json;
mod predicted;
mod prove;
mod rival;
pub(super) mod summary;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use coldpress_calibration::Population;
use coldpress_host::{Command, Device, Janitor};
use coldpress_layout::Plan;
use coldpress_pack::PackSummary;
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped_path, quoted};
use coldpress_report::units::size_and_ratio;
use coldpress_session::exit::Exit;
use coldpress_session::privileges;
use coldpress_session::ui::Ui;
use coldpress_session::work_dir::{self, WorkDir};
use coldpress_trace::{Profile, Trace};
use coldpress_writer::{MetadataLayout, Output, Source, Summary};

use super::record;
use crate::containers;
use crate::image_file::open_image;
use crate::profiles::{self, OrderingProfile};
use crate::recording::{self, Recorder, Stage};
use crate::resolve::{self, ImageSettings};
use crate::start::Start;
use crate::tuning::take_best;
use crate::verbs::press::args::PressArgs;
use crate::verbs::press::json::Pressed;
use crate::verbs::press::prove::Proof;
use crate::{inputs, program, steps};

pub(super) fn run(args: &PressArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let sources = std::slice::from_ref(&args.source);
    let settings = ImageSettings::resolve(&args.image_options, &args.source_options, sources)?;
    let population = Population::resolve(&args.device.names, ui)?;
    let devices = population.members.iter();
    let devices = devices.map(|(target, _)| Device::parse(&target.name));
    let devices = devices.collect::<Result<_, _>>()?;
    let is_inside = program::is_inside(&args.command, &args.source);
    resolve::check_source(&args.source, is_inside)?;
    let command = program::resolve(&args.command, &args.source)?;
    check_paths(args)?;
    let given = args.plan.as_deref().map(steps::read_plan).transpose()?;
    let profile = OrderingProfile::read(&args.profile)?;
    if args.archives {
        privileges::require("proving that ordered archives are faster")?;
    }
    let privileged = privileges::ask(ui)?;
    let asked = args.recorder.recorder;
    let recorder = match (&given, &profile) {
        (None, None) => Some(recording::choose(asked, is_inside, &args.source, ui)?),
        _ => None,
    };
    let _hold = ui.interrupt.hold();
    let janitor = Janitor::start()?;
    // A wrong place is told before the recording.
    let mut outputs = Outputs::create(args)?;
    let mut press = Press {
        args,
        settings,
        command,
        devices,
        population,
        losses: Vec::new(),
        work_dir: WorkDir::create(
            work_dir::parent(outputs.image.path()),
            &[
                recording::FIRST_IMAGE,
                prove::UNPLANNED_IMAGE,
                prove::RIVAL_IMAGE,
                archives::AS_THEY_WERE_IMAGE,
            ],
            Some(&janitor),
        )?,
        janitor: &janitor,
        ui,
    };
    let (mut inputs, config) = containers::started(&args.source, &args.container, ui)?;
    inputs::trust_indexes(&mut inputs);
    program::complete(&mut press.command, &args.command, config.as_ref())?;
    let mut source = steps::gather(&inputs, &press.settings, ui)?;
    resolve::check_tree(&args.source, &source.tree, is_inside)?;
    let start = match (profile, recorder) {
        (Some(profile), _) => Some(Start::Profile(profile.fresh(&source, ui)?.profile)),
        (None, Some(recorder)) => {
            let trace = press.record(recorder, &source, &mut outputs)?;
            Some(Start::Trace(trace))
        }
        (None, None) => None,
    };
    if args.tune {
        let among = (&press.population, Vec::new());
        let start = start.as_ref();
        press.losses = take_best(&mut press.settings, &mut source, start, among, ui)?;
    }
    let mut ordered = press.order_archives(&inputs, start.as_ref())?;
    let by_recorder = recorder.is_some();
    let made = match &mut ordered {
        Some((ordered, ordered_start)) => Made {
            source: ordered,
            start: Some(ordered_start),
            archives: start.as_ref().map(|start| (&mut source, start)),
            recorded: by_recorder,
        },
        None => Made {
            source: &mut source,
            start: start.as_ref(),
            archives: None,
            recorded: by_recorder,
        },
    };
    press.make(made, given, outputs, privileged)
}

/// Checks the images to compare with and the places of all that will be written.
fn check_paths(args: &PressArgs) -> anyhow::Result<()> {
    let optional = [
        &args.report,
        &args.samples,
        &args.plan_out,
        &args.trace_out,
        &args.profile_out,
    ];
    let outputs: Vec<&Path> = std::iter::once(&args.output)
        .chain(optional.into_iter().flatten())
        .map(PathBuf::as_path)
        .collect();
    resolve::check_outputs(&outputs, std::slice::from_ref(&args.source))?;
    for image in &args.against {
        open_image(image)?;
        if resolve::is_same(image, &args.output) {
            let error = anyhow!("{} would be replaced before the comparison", quoted(image));
            return Err(hint(error, "write IMAGE elsewhere"));
        }
    }
    Ok(())
}

/// The files to write. They take their places one by one, each when it is whole.
struct Outputs {
    image: Output,
    trace: Option<Output>,
    profile: Option<Output>,
    plan: Option<Output>,
    report: Option<Output>,
    samples: Option<Output>,
}

impl Outputs {
    fn create(args: &PressArgs) -> Result<Self, coldpress_writer::Error> {
        let optional = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
        Ok(Self {
            image: Output::create(&args.output)?,
            trace: optional(&args.trace_out)?,
            profile: optional(&args.profile_out)?,
            plan: optional(&args.plan_out)?,
            report: optional(&args.report)?,
            samples: optional(&args.samples)?,
        })
    }
}

/// A press under way.
struct Press<'a> {
    args: &'a PressArgs,
    settings: ImageSettings,
    command: Command,
    /// Where starts are measured, one after another.
    devices: Vec<Device>,
    /// What starts are predicted for: the same devices, with what is known of this machine.
    population: Population,
    /// What each device loses with the image that was chosen, if there are several.
    losses: Vec<(String, String)>,
    work_dir: WorkDir<'a>,
    janitor: &'a Janitor,
    ui: &'a Ui,
}

/// What an image is made of.
struct Made<'a> {
    source: &'a mut Source,
    start: Option<&'a Start>,
    /// The same with the archives as they were, if they were ordered.
    archives: Option<(&'a mut Source, &'a Start)>,
    recorded: bool,
}

impl Press<'_> {
    /// Builds the image and proves what it brings.
    fn make(
        &self,
        mut made: Made,
        given: Option<Plan>,
        outputs: Outputs,
        privileged: bool,
    ) -> anyhow::Result<Exit> {
        let Self { args, settings, .. } = self;
        let planned = |source: &Source, start: &Start| start.plan(source, settings.block_size);
        let plan = match (given, made.start) {
            (Some(plan), _) => plan,
            (None, Some(start)) => planned(made.source, start),
            (None, None) => Plan::default(),
        };
        if let Some(output) = outputs.plan {
            let mut text = Vec::new();
            plan.write(&mut text)?;
            steps::write_small(output, &text)?;
        }
        let (mut built, pack) = self.build(made.source, (&plan, made.start), outputs.image)?;
        if !privileged {
            return self.end_without_proof(Pressed::new(args, &built, pack, made.recorded));
        }
        let others = made.archives.as_mut().map(|(source, start)| {
            let output = Output::create(&self.work_dir.file(archives::AS_THEY_WERE_IMAGE))?;
            self.build(source, (&planned(source, start), Some(start)), output)
        });
        let others = others.transpose()?;
        let proof = self.prove(&made, &plan, &built)?;
        if let Some((other, _)) = others
            && self.keep_the_proven(&proof.studies)?
        {
            built = other;
        }
        let pressed = Pressed::new(args, &built, pack, made.recorded);
        self.tell(proof, pressed, outputs.report, outputs.samples)?;
        let is_lossy = made.source.losses().next().is_some() || !built.changed.is_empty();
        Ok(Exit::partial_if(is_lossy))
    }

    /// A start of the source.
    fn record(
        &self,
        recorder: &Recorder,
        source: &Source,
        outputs: &mut Outputs,
    ) -> anyhow::Result<Trace> {
        let Self {
            args,
            settings,
            command,
            work_dir,
            janitor,
            ui,
            ..
        } = self;
        let stage = Stage {
            source,
            name: &args.source,
            command,
            limit: None,
            settings,
            work_dir,
            janitor,
            ui,
        };
        let trace = record::told(recorder, &stage)?;
        if let Some(output) = outputs.trace.take() {
            record::write_trace(&trace, output)?;
        }
        if let Some(output) = outputs.profile.take() {
            let mut profile = Profile::from(&trace);
            profiles::fill(&mut profile, source, ui)?;
            profiles::write(&profile, output)?;
        }
        Ok(trace)
    }

    /// The image itself, compared with its source before it takes its place.
    fn build(
        &self,
        source: &mut Source,
        (plan, start): (&Plan, Option<&Start>),
        output: Output,
    ) -> anyhow::Result<(Summary, Option<PackSummary>)> {
        let Self {
            args, settings, ui, ..
        } = self;
        let options = settings.build_options(&source.tree, MetadataLayout::Dense);
        let kept = (settings, &options);
        let order = steps::order_stable(source, plan, kept, &args.stable, ui)?;
        let built = steps::write("pressing", source, &order, &output, &options, ui)?;
        // What the image is compared with is built as without.
        source.reuse = None;
        steps::verify(&output, source, &built, 0, ui)?;
        let pack = args.start_pack.start_pack.zip(start);
        let add = |(limit, start): (_, &Start)| {
            steps::add_start_pack(&output, &start.working_set(), limit, settings, ui)
        };
        let pack = pack.map(add).transpose()?;
        steps::commit(output, ui)?;
        let size = size_and_ratio(built.image_bytes, built.data_bytes);
        let output = escaped_path(&args.output);
        ui.say(&format!("{output}: {size}; verified"));
        if let Some(pack) = &pack {
            ui.say(&steps::start_pack_line(&output, pack));
        }
        Ok((built, pack))
    }

    /// The results: standard output, and the report.
    fn tell(
        &self,
        proof: Proof,
        pressed: Pressed,
        html: Option<Output>,
        samples: Option<Output>,
    ) -> anyhow::Result<()> {
        let Self { args, ui, .. } = self;
        if let Some(output) = html {
            let mut html = Vec::new();
            coldpress_bench::report_html(&proof.report(), &mut html)?;
            steps::write_small(output, &html)?;
        }
        if !args.json {
            for (study, device) in proof.studies.iter().zip(&self.devices) {
                if self.devices.len() > 1 {
                    writeln!(ui.out(), "{}:\n", device.name)?;
                }
                summary::print(study, ui)?;
            }
        }
        let measured = pressed.proven(proof);
        if let Some(output) = samples {
            steps::write_small(output, &serde_json::to_vec_pretty(&measured)?)?;
        }
        if args.json {
            ui.json(&measured)?;
        }
        if let Some(path) = &args.report {
            ui.say(&format!("report: {}", escaped_path(path)));
        }
        Ok(())
    }

    /// Without root: sizes only, and an exit status that says that not all was done.
    fn end_without_proof(&self, pressed: Pressed) -> anyhow::Result<Exit> {
        let Self { args, ui, .. } = self;
        if args.json {
            ui.json(&pressed.unproven())?;
        }
        let missing = [&args.report, &args.samples];
        for path in missing.into_iter().flatten() {
            ui.warn(&format!("{} is not written", quoted(path)));
        }
        ui.warn(&format!(
            "{} is sound, but nothing shows that it starts faster",
            quoted(&args.output)
        ));
        Ok(Exit::Partial)
    }
}
