//! What updaters transfer from one image to the next.

use std::env;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_delta::{Cause, CauseBytes, Error, Pair, Region, Updater, measure, regions};
use coldpress_host::{Janitor, Scratch};
use coldpress_image::Image;
use coldpress_report::failure::hint;
use coldpress_report::Table;
use coldpress_report::text::quoted;
use coldpress_report::units;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use serde::Serialize;

use crate::image_file;
use crate::verbs::diff::args::DiffArgs;

/// What was measured, for `--json`.
#[derive(Debug, Serialize)]
struct Report {
    first: String,
    second: String,
    first_bytes: u64,
    second_bytes: u64,
    /// Bytes of the second image by what they would be transferred for.
    regions: CauseBytes,
    updaters: Vec<Row>,
}

/// What one updater transfers.
#[derive(Debug, Serialize)]
struct Row {
    updater: &'static str,
    bytes: u64,
    /// Of the second file.
    share: Option<f64>,
    /// Whether the causes are those of the parts that it fetched, not spread over all that changed.
    is_located: bool,
    causes: CauseBytes,
}

pub(super) fn run(args: &DiffArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let mut updaters = args.delta.clone();
    updaters.sort_unstable();
    updaters.dedup();
    for updater in &updaters {
        updater.demand().map_err(|error| explained(args, error))?;
    }
    let old = image_file::open_image(&args.first)?;
    let new = image_file::open_image(&args.second)?;
    let size_bytes = |path: &Path| -> anyhow::Result<u64> {
        let metadata = path.metadata();
        let metadata = metadata.with_context(|| format!("cannot read {}", quoted(path)))?;
        Ok(metadata.len())
    };
    let mut report = Report {
        first: args.first.display().to_string(),
        second: args.second.display().to_string(),
        first_bytes: size_bytes(&args.first)?,
        second_bytes: size_bytes(&args.second)?,
        regions: CauseBytes::default(),
        updaters: Vec::new(),
    };
    let regions = compare(args, (&old, &new), report.second_bytes, ui)?;
    report.regions = CauseBytes::of_regions(&regions);
    let _hold = ui.interrupt.hold();
    let janitor = Janitor::start()?;
    for updater in updaters {
        let row = ask(args, updater, &regions, report.second_bytes, &janitor, ui)?;
        report.updaters.push(row);
    }
    if args.json {
        ui.json(&report)?;
    } else {
        let mut out = ui.out();
        writeln!(out, "{}", table(&report).text())?;
        out.flush()?;
    }
    Ok(Exit::Done)
}

fn compare(
    args: &DiffArgs,
    (old, new): (&Image, &Image),
    new_bytes: u64,
    ui: &Ui,
) -> anyhow::Result<Vec<Region>> {
    let step = ui.step("comparing blocks", 0);
    let found = regions(old, new, new_bytes, &mut || ui.interrupt.poll());
    step.finish("");
    found.map_err(|error| explained(args, error))
}

fn ask(
    args: &DiffArgs,
    updater: Updater,
    regions: &[Region],
    new_bytes: u64,
    janitor: &Janitor,
    ui: &Ui,
) -> anyhow::Result<Row> {
    let scratch = Scratch::create(&env::temp_dir(), janitor)?;
    let pair = Pair {
        old: &args.first,
        new: &args.second,
        scratch: scratch.path(),
    };
    let step = ui.step("asking", 0).about(updater.name());
    let transfer = measure(updater, pair, &mut || ui.interrupt.poll().is_break());
    step.finish("");
    let transfer = transfer.map_err(|error| explained(args, error))?;
    Ok(Row {
        updater: updater.name(),
        bytes: transfer.bytes(),
        share: units::share(transfer.bytes(), new_bytes),
        is_located: transfer.patch_bytes == 0,
        causes: transfer.by_cause(regions),
    })
}

/// With what to do about it.
fn explained(args: &DiffArgs, error: Error) -> anyhow::Error {
    let damaged = |path: &Path, error: Error| {
        let check = format!("`coldpress check {}` lists what is damaged", path.display());
        hint(
            anyhow!(error).context(format!("cannot compare {}", quoted(path))),
            check,
        )
    };
    match error {
        error @ Error::Old(_) => damaged(&args.first, error),
        error @ Error::New(_) => damaged(&args.second, error),
        error @ Error::Missing { .. } => hint(error, "or leave that updater out of --delta"),
        error => error.into(),
    }
}

fn table(report: &Report) -> Table {
    let mut causes = Cause::ALL.to_vec();
    causes.retain(|cause| report.updaters.iter().any(|row| row.causes.of(*cause) > 0));
    let fixed = ["updater", "transfers", "share"];
    let columns = fixed.into_iter().chain(causes.iter().map(|it| it.text()));
    let row = |row: &Row| {
        let share = row
            .share
            .map_or_else(String::new, |it| format!("{:.1} %", it * 100.0));
        let bytes = causes
            .iter()
            .map(|cause| units::bytes(row.causes.of(*cause)));
        let first = [row.updater.to_owned(), units::bytes(row.bytes), share];
        first.into_iter().chain(bytes).collect()
    };
    Table {
        columns: columns.map(ToOwned::to_owned).collect(),
        rows: report.updaters.iter().map(row).collect(),
    }
}
