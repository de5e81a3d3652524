//! `coldpress report`: studies as a page.

pub(crate) mod args;
mod tree;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_bench::{FileSizes, Report, Waterfall, report_html};
use coldpress_history::{Measured, Origin, read_studies};
use coldpress_report::failure::hint;
use coldpress_report::text::{plural, quoted};
use coldpress_report::units;
use coldpress_session::exit::Exit;
use coldpress_session::state;
use coldpress_session::ui::Ui;
use coldpress_writer::Output;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::history;
use crate::verbs::report::args::ReportArgs;
use crate::{resolve, steps};

pub(super) fn run(args: &ReportArgs, ui: &Ui) -> anyhow::Result<Exit> {
    resolve::check_outputs(&[&args.output], &args.samples)?;
    let mut report = Report::default();
    if !(args.ids.is_empty() && args.change.is_empty()) {
        add_kept(&mut report, args)?;
    }
    for file in &args.samples {
        add(&mut report, file)?;
    }
    if let Some(directory) = &args.source {
        let sizes = tree::file_sizes(directory)?;
        add_sizes(&mut report, &sizes);
    }
    report.title = title(args, &report);
    let output = Output::create(&args.output)?;
    let mut html = Vec::new();
    report_html(&report, &mut html)?;
    steps::write_small(output, &html)?;
    ui.say(&format!(
        "{}: {}, {}",
        quoted(&args.output),
        plural(report.studies.len() as u64, "study", "studies"),
        units::bytes(html.len() as u64)
    ));
    Ok(Exit::Done)
}

/// What the history has.
fn add_kept(report: &mut Report, args: &ReportArgs) -> anyhow::Result<()> {
    let history = state::open()?;
    for id in &args.ids {
        report.studies.push(history::find(&history, *id)?);
    }
    for id in &args.change {
        let change = history.change(*id)?.ok_or_else(|| {
            let error = anyhow!("there is no change {id} in the history");
            hint(error, "`coldpress timings --changes` lists the changes")
        })?;
        report.changes.push(Waterfall::from(&change));
    }
    Ok(())
}

/// What a press says beside its study.
#[derive(Deserialize)]
struct Noted {
    notes: Vec<(String, String)>,
}

/// Adds the studies of a file, and the notes if a press wrote it.
fn add(report: &mut Report, file: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", quoted(file)))?;
    let studies = read_studies(&bytes).with_context(|| format!("cannot use {}", quoted(file)))?;
    report.studies.extend(studies);
    if let Ok(found) = serde_json::from_slice::<Measured<IgnoredAny, Noted>>(&bytes) {
        report.notes.extend(found.summary.notes);
    }
    Ok(())
}

/// The files are those of what we measured, not of what somebody published.
fn add_sizes(report: &mut Report, sizes: &FileSizes) {
    let is_ours = |origin: &Origin| *origin == Origin::Measured;
    let ours = report
        .studies
        .iter()
        .position(|study| is_ours(&study.origin));
    if let Some(study) = report.studies.get_mut(ours.unwrap_or(0)) {
        let fact = FileSizes::FACT.to_owned();
        study.facts.insert(fact, sizes.to_fact());
    }
}

fn title(args: &ReportArgs, report: &Report) -> String {
    match (&args.title, report.studies.as_slice()) {
        (Some(title), _) => title.clone(),
        (None, [only]) => only.title.clone(),
        (None, []) => plural(report.changes.len() as u64, "change", "changes"),
        (None, studies) => plural(studies.len() as u64, "study", "studies"),
    }
}
