//! `coldpress press`: record, plan, build, verify, prove.

mod prove;
mod rival;
mod summary;

use std::path::Path;

use anyhow::Context as _;
use coldpress_bench::Report;
use coldpress_build::{Metadata, Output, Source, Summary};
use coldpress_host::{Command, Device, Janitor};
use coldpress_layout::Plan;

use super::record::{self, write_file};
use crate::args::PressArgs;
use crate::exit::Exit;
use crate::resolve::{self, ImageSettings};
use crate::text::quoted;
use crate::ui::Ui;
use crate::work_dir::{self, WorkDir};
use crate::{privileges, program, recording, steps};

pub(super) fn run(args: &PressArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let settings = ImageSettings::resolve(&args.image_options)?;
    let device = Device::parse(&args.device)?;
    resolve::check_source_directory(&args.source)?;
    let given = args.plan.as_deref().map(steps::read_plan).transpose()?;
    let privileged = privileges::ask(ui)?;
    let _hold = ui.interrupt.hold();
    let janitor = privileged.then(Janitor::start).transpose()?;
    let press = Press {
        args,
        settings: &settings,
        command: program::resolve(&args.command, &args.source),
        device,
        work_dir: WorkDir::create(
            work_dir::parent(&args.output),
            &[
                recording::FIRST_IMAGE,
                prove::UNPLANNED_IMAGE,
                prove::RIVAL_IMAGE,
            ],
            janitor.as_ref(),
        )?,
        ui,
    };
    let output = Output::create(&args.output)?;
    let source = steps::scan(std::slice::from_ref(&args.source), &settings, ui)?;
    let plan = match (given, &janitor) {
        (Some(plan), _) => plan,
        (None, Some(janitor)) => press.record(&source, janitor)?,
        (None, None) => Plan::default(),
    };
    if let Some(path) = &args.plan_out {
        let mut text = Vec::new();
        plan.write(&mut text)?;
        write_file(path, &text)?;
    }
    let built = press.build(&source, &plan, output)?;
    let Some(janitor) = &janitor else {
        return press.end_without_proof(&built);
    };
    let report = press.prove(&source, &plan, &built, janitor)?;
    press.tell(&report)?;
    Ok(Exit::wrong_if(!source.warnings.is_empty()))
}

/// A press under way.
struct Press<'a> {
    args: &'a PressArgs,
    settings: &'a ImageSettings,
    command: Command,
    device: Device,
    work_dir: WorkDir<'a>,
    ui: &'a Ui,
}

impl Press<'_> {
    /// A cold start of the source, as a plan.
    fn record(&self, source: &Source, janitor: &Janitor) -> anyhow::Result<Plan> {
        let Self {
            args,
            settings,
            command,
            work_dir,
            ui,
            ..
        } = self;
        let trace = recording::record(
            source,
            &args.source,
            command,
            settings,
            work_dir,
            janitor,
            ui,
        )?;
        ui.say(&record::summary(&trace));
        if let Some(path) = &args.trace_out {
            record::write_trace(&trace, path)?;
        }
        Ok(coldpress_layout::plan(
            &source.tree,
            &trace.working_set(),
            settings.block_size,
        ))
    }

    /// The image itself, compared with its source before it takes its place.
    fn build(&self, source: &Source, plan: &Plan, output: Output) -> anyhow::Result<Summary> {
        let Self {
            args, settings, ui, ..
        } = self;
        let order = steps::order(source, plan, settings, ui);
        let options = settings.build_options(&source.tree, Metadata::Dense);
        let built = steps::write("pressing", source, &order, &output, &options, ui)
            .with_context(|| format!("cannot build {}", quoted(&args.output)))?;
        steps::verify(&output, source, ui)?;
        output.commit()?;
        let size = steps::size_and_ratio(built.image_bytes, built.data_bytes);
        ui.say(&format!("{}: {size}; verified", args.output.display()));
        Ok(built)
    }

    /// The results: standard output, and the report.
    fn tell(&self, report: &Report) -> anyhow::Result<()> {
        let Self { args, ui, .. } = self;
        if let Some(path) = &args.report {
            let mut html = Vec::new();
            coldpress_bench::report_html(report, &mut html)?;
            write_file(path, &html)?;
        }
        if let Some(path) = &args.samples {
            write_file(path, &serde_json::to_vec_pretty(report)?)?;
        }
        if args.json {
            ui.json(report)?;
        } else {
            summary::print(report, ui)?;
        }
        if let Some(path) = &args.report {
            ui.say(&format!("report: {}", path.display()));
        }
        Ok(())
    }

    /// Without root: sizes only, and an exit status that says that not all was done.
    fn end_without_proof(&self, built: &Summary) -> anyhow::Result<Exit> {
        let Self { args, ui, .. } = self;
        if args.json {
            ui.json(&serde_json::json!({
                "image": args.output.display().to_string(),
                "image_bytes": built.image_bytes,
                "content_bytes": built.data_bytes,
                "recorded": false,
                "verified": true,
                "proven": false,
            }))?;
        }
        let path: &Path = &args.output;
        ui.warn(&format!(
            "{} is sound, but nothing shows that it starts faster",
            quoted(path)
        ));
        Ok(Exit::Wrong)
    }
}
