//! `coldpress bench boot`: images booted in turn, kept run by run, and what one saves.

pub(crate) mod args;
mod charts;
pub(crate) mod scenario;
mod table;
mod watcher;

use std::path::Path;

use anyhow::Context as _;
use coldpress_bench::{BootContestant, Error, boot, boot_rows, machine_facts};
use coldpress_history::{Measured, State, Study};
use coldpress_host::backing_disk;
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::failure::unless_stdout_closed;
use coldpress_session::ui::Ui;

use super::study_store::{create_report, write_report};
use crate::resolve;
use crate::verbs::bench::boot::args::BootArgs;
use watcher::Watcher;

pub(super) fn run(args: &BootArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let contestants = scenario::contestants(args)?;
    let scenario = scenario::scenario(args)?;
    if !scenario.device.is_throttled() {
        warn_of_memory(&contestants, ui);
    }
    let outputs: Vec<&Path> = args.study.files().collect();
    resolve::check_outputs(&outputs, &args.images)?;
    let _hold = ui.interrupt.hold();
    let report = create_report(&args.study)?;
    let charts = args.chart.as_deref();
    charts.map(charts::make_directory).transpose()?;
    let mut watcher = Watcher::new(args, &contestants, ui);
    let ended = boot(
        &scenario,
        &contestants,
        machine_facts([]),
        &mut |progress| watcher.take(progress),
    );
    watcher.finish(match &ended {
        Ok(_) => State::Done,
        Err(Error::Stopped) => State::Interrupted,
        Err(_) => State::Failed,
    })?;
    let booted = ended.context("cannot compare the boots")?;
    if let Some(directory) = charts {
        charts::write(directory, &booted.charts)?;
        ui.say(&format!("boot charts: {}", directory.display()));
    }
    if let Some(output) = report {
        write_report(&booted.study, &[], output)?;
    }
    unless_stdout_closed(tell(&booted.study, args.study.json, ui))?;
    let excluded = booted.study.runs.iter().any(|run| run.excluded.is_some());
    Ok(Exit::partial_if(excluded))
}

/// What is in memory is read directly as well, on Linux 6.6 or later, and at once.
fn warn_of_memory(contestants: &[BootContestant], ui: &Ui) {
    let in_memory = contestants
        .iter()
        .filter(|one| backing_disk(&one.image).is_err());
    for contestant in in_memory {
        ui.warn(&format!(
            "{} does not lie on a disk of this machine, so its boots may be fed from memory; \
            choose a --device",
            quoted(&contestant.image)
        ));
    }
}

/// Standard output.
fn tell(study: &Study, as_json: bool, ui: &Ui) -> anyhow::Result<()> {
    let rows = boot_rows(study);
    if as_json {
        return ui.json(&Measured {
            study,
            summary: rows,
        });
    }
    table::print(study, &rows, ui)
}
