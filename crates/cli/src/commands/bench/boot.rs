//! `coldpress bench boot`: images booted in turn, kept run by run, and what one saves.

mod charts;
mod scenario;
mod table;

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Context as _;
use coldpress_bench::{BootContestant, BootProgress, Error, boot, boot_rows};
use coldpress_build::Output;
use coldpress_history::{State, Study};
use coldpress_host::backing_disk;

use super::keep::Keeper;
use crate::args::BootArgs;
use crate::exit::Exit;
use crate::failure::unless_stdout_closed;
use crate::steps;
use crate::study::machine_facts;
use crate::text::{escaped, quoted};
use crate::ui::{Step, Ui};

pub(super) fn run(args: &BootArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let contestants = scenario::contestants(args)?;
    let scenario = scenario::scenario(args)?;
    if !scenario.device.is_throttled() {
        warn_of_memory(&contestants, ui);
    }
    let _hold = ui.interrupt.hold();
    let samples = args.samples.as_deref().map(Output::create).transpose()?;
    let charts = args.chart.as_deref();
    charts.map(charts::make_directory).transpose()?;
    let mut keeper = Keeper::open(args.no_store)?;
    let boots = u64::from(scenario.runs) * contestants.len() as u64;
    let mut watcher = Watcher {
        contestants: &contestants,
        turns: scenario.runs,
        bar: ui.count("booting", boots),
        done: 0,
        keeper: &mut keeper,
        trouble: None,
        ui,
    };
    let ended = boot(
        &scenario,
        &contestants,
        machine_facts([]),
        &mut |progress| watcher.see(progress),
    );
    let trouble = watcher.trouble.take();
    drop(watcher);
    let state = match &ended {
        Ok(_) => State::Done,
        Err(Error::Stopped) if trouble.is_none() => State::Interrupted,
        Err(_) => State::Failed,
    };
    let id = keeper.finish(state)?;
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    let booted = ended.context("cannot compare the boots")?;
    if let Some(directory) = charts {
        charts::write(directory, &booted.charts)?;
    }
    write_samples(samples, &booted.study)?;
    unless_stdout_closed(tell(&booted.study, args.json, ui))?;
    if let Some(id) = id {
        ui.say(&format!(
            "kept as study {id}: `coldpress history show {id}`"
        ));
    }
    if let Some(directory) = charts {
        ui.say(&format!("boot charts: {}", directory.display()));
    }
    let excluded = booted.study.runs.iter().any(|run| run.excluded.is_some());
    Ok(Exit::wrong_if(excluded))
}

/// What is in memory is read directly as well, on Linux 6.6 or later, and at once.
fn warn_of_memory(contestants: &[BootContestant], ui: &Ui) {
    let in_memory = contestants
        .iter()
        .filter(|one| backing_disk(&one.image).is_err());
    for contestant in in_memory {
        ui.warn(&format!(
            "{} does not lie on a disk of this machine, so its boots may be fed from memory; choose a --device",
            quoted(&contestant.image)
        ));
    }
}

fn write_samples(output: Option<Output>, study: &Study) -> anyhow::Result<()> {
    let Some(output) = output else { return Ok(()) };
    steps::write_small(output, &serde_json::to_vec_pretty(study)?)
}

/// Standard output.
fn tell(study: &Study, as_json: bool, ui: &Ui) -> anyhow::Result<()> {
    let rows = boot_rows(study);
    if as_json {
        return ui.json(&serde_json::json!({ "study": study, "rows": rows }));
    }
    table::print(study, &rows, ui)
}

/// Shows a study under way, and keeps what is finished.
struct Watcher<'a> {
    contestants: &'a [BootContestant],
    turns: u32,
    bar: Step,
    done: u64,
    keeper: &'a mut Keeper,
    /// Why nothing could be kept.
    trouble: Option<anyhow::Error>,
    ui: &'a Ui,
}

impl Watcher<'_> {
    fn see(&mut self, progress: BootProgress) -> ControlFlow<()> {
        let name = |contestant: usize| &self.contestants[contestant].name;
        match progress {
            BootProgress::Began(study) => {
                self.warn_of_imitation(study);
                let kept = self.keeper.begin(study);
                self.check(kept)?;
            }
            BootProgress::Booting { contestant, turn } => {
                let (turn, turns) = (turn + 1, self.turns);
                let name = escaped(name(contestant).as_bytes());
                self.bar.relabel(format!("turn {turn} of {turns}: {name}"));
            }
            BootProgress::Tracing { contestant } => {
                let name = escaped(name(contestant).as_bytes());
                self.bar.relabel(format!("tracing {name}"));
            }
            BootProgress::Waiting => {}
            BootProgress::Ended { run, console_tail } => {
                self.done += 1;
                self.bar.set(self.done);
                if let Some(reason) = run.excluded.as_ref().filter(|_| run.turn > 0) {
                    let (name, turn) = (name(run.contestant), run.turn + 1);
                    let tail = console_tail.trim();
                    self.ui.warn(&format!(
                        "turn {turn} of `{}` does not count: {reason}; its console ended with:\n{tail}",
                        escaped(name.as_bytes())
                    ));
                }
                let kept = self.keeper.append(run);
                self.check(kept)?;
            }
        }
        self.ui.interrupt.poll()
    }

    fn check(&mut self, kept: anyhow::Result<()>) -> ControlFlow<()> {
        match kept {
            Ok(()) => ControlFlow::Continue(()),
            Err(trouble) => {
                self.trouble = Some(trouble);
                ControlFlow::Break(())
            }
        }
    }

    fn warn_of_imitation(&self, study: &Study) {
        if let Some(words) = study.facts.get("without_kvm") {
            self.ui.warn(&format!(
                "KVM does not work here, so QEMU imitates the processor: times are many times those of a real machine, reads and \
                 bytes are not ({})",
                escaped(words.as_bytes())
            ));
        }
    }
}

/// The name of a file without its directory, as it is called in tables.
fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    escaped(name.as_encoded_bytes())
}
