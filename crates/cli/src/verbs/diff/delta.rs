//! What updaters transfer from one image to the next.

use std::env;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_delta::{CauseBytes, Error, Pair, Report, measure, regions};
use coldpress_host::{Janitor, Scratch};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;

use crate::image_file;
use crate::verbs::diff::args::DiffArgs;

pub(super) fn run(args: &DiffArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let explained = |error| explained(args, error);
    let mut updaters = args.delta.clone();
    updaters.sort_unstable();
    updaters.dedup();
    for updater in &updaters {
        updater.demand().map_err(explained)?;
    }
    let old = image_file::open_image(&args.first)?;
    let new = image_file::open_image(&args.second)?;
    let size_bytes = |path: &Path| -> anyhow::Result<u64> {
        let metadata = path.metadata();
        let metadata = metadata.with_context(|| format!("cannot read {}", quoted(path)))?;
        Ok(metadata.len())
    };
    let second_bytes = size_bytes(&args.second)?;
    let step = ui.step("comparing blocks", 0);
    let regions = regions(&old, &new, second_bytes, &mut || ui.interrupt.poll());
    step.finish("");
    let regions = regions.map_err(explained)?;
    let mut report = Report {
        first: args.first.display().to_string(),
        second: args.second.display().to_string(),
        first_bytes: size_bytes(&args.first)?,
        second_bytes,
        regions: CauseBytes::of_regions(&regions),
        updaters: Vec::new(),
    };
    let _hold = ui.interrupt.hold();
    let janitor = Janitor::start()?;
    for updater in updaters {
        let scratch = Scratch::create(&env::temp_dir(), &janitor)?;
        let pair = Pair {
            old: &args.first,
            new: &args.second,
            scratch: scratch.path(),
        };
        let step = ui.step("asking", 0).about(updater.name());
        let transfer = measure(updater, pair, &mut || ui.interrupt.poll().is_break());
        step.finish("");
        report.add(updater, &transfer.map_err(explained)?, &regions);
    }
    if args.json {
        ui.json(&report)?;
    } else {
        let mut out = ui.out();
        writeln!(out, "{}", report.table().text())?;
        out.flush()?;
    }
    Ok(Exit::Done)
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
