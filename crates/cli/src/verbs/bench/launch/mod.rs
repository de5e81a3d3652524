//! `coldpress bench launch`: starts of a program from images of many kinds.

pub(crate) mod args;
mod contestants;
mod images;
mod keeper;
mod summary;

use std::path::Path;

use anyhow::Context as _;
use coldpress_bench::{Error, Scenario, compare, odd_trees, standings};
use coldpress_history::{Kind, Measured, State, Study};
use coldpress_host::{Device, Janitor, Scratch};
use coldpress_report::text::escaped;
use coldpress_session::exit::Exit;
use coldpress_session::failure::unless_stdout_closed;
use coldpress_session::privileges;
use coldpress_session::ui::Ui;

use super::study_store::{create_report, write_report};
use crate::verbs::bench::launch::args::BenchLaunchArgs;
use crate::{program, recording, resolve, study};
use contestants::Contestants;
use keeper::Keeper;

pub(super) fn run(args: &BenchLaunchArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let device = Device::parse(&args.device.name)?;
    resolve::check_source(&args.source, args.command.chroot)?;
    let command = program::resolve(&args.command, &args.source)?;
    check_places(args)?;
    let wishes = contestants::wishes(args)?;
    privileges::require("measuring")?;
    let _hold = ui.interrupt.hold();
    let janitor = Janitor::start()?;
    let report = create_report(&args.study)?;
    let scratch = Scratch::create(&args.work_dir, &janitor)?;
    let contestants = Contestants::gather(args, wishes, &scratch, &janitor, ui)?;
    let scenario = Scenario {
        kind: Kind::Launch,
        title: contestants::title(args),
        command,
        device,
        runs: args.runs.number.get(),
        seed: args.study.seed.unwrap_or_else(study::seed),
        walk: args.walk,
    };
    let mut keeper = Keeper::new(args, &contestants, ui);
    let bar = ui.count("measuring", keeper.run_count());
    // Beside the scratch directory and not in it: nothing that is mounted may ever be emptied.
    let work_dir = scratch.path().parent().unwrap_or(Path::new("/"));
    let ended = compare(
        &scenario,
        &contestants.list,
        work_dir,
        &janitor,
        &mut |progress| keeper.take(&progress, &bar),
    );
    bar.finish("");
    let state = match &ended {
        Ok(_) => State::Done,
        Err(Error::Interrupted(_)) => State::Interrupted,
        Err(_) => State::Failed,
    };
    let study = keeper.finish(state)?;
    let compared = ended.with_context(|| {
        let program = recording::quoted_program(&scenario.command);
        format!("cannot compare the starts of {program}")
    })?;
    let Some(study) = study else {
        return Ok(Exit::Partial);
    };
    if let Some(output) = report {
        write_report(&study, &contestants.notes, output)?;
    }
    unless_stdout_closed(tell(&study, args, ui))?;
    let is_one_odd = warn_of_odd_trees(&compared, ui);
    Ok(Exit::partial_if(contestants.is_one_missing || is_one_odd))
}

/// Names contestants that are not images of the same files; returns whether there are any.
fn warn_of_odd_trees(study: &Study, ui: &Ui) -> bool {
    let odd = odd_trees(study);
    for (contestant, first) in &odd {
        let [name, first] = [contestant, first].map(|name| escaped(name.as_bytes()));
        ui.warn(&format!(
            "{name} has another tree than {first}: other names, links or content, so their figures \
            cannot be compared"
        ));
    }
    !odd.is_empty()
}

/// Nothing that is written may become a part of what is measured.
fn check_places(args: &BenchLaunchArgs) -> anyhow::Result<()> {
    let work = args.work_dir.join("work");
    let outputs: Vec<&Path> = args.study.files().chain([work.as_path()]).collect();
    resolve::check_outputs(&outputs, std::slice::from_ref(&args.source))
}

fn tell(study: &Study, args: &BenchLaunchArgs, ui: &Ui) -> anyhow::Result<()> {
    if args.study.json {
        let summary = standings(study);
        return ui.json(&Measured { study, summary });
    }
    summary::print(study, ui)
}
