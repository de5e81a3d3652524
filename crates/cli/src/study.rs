//! Measuring starts, with progress, and keeping what was measured.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use coldpress_bench::{Contestant, Progress, Scenario, Step, compare};
use coldpress_history::Study;
use coldpress_host::Janitor;
use coldpress_session::state;
use coldpress_session::ui::Ui;

use crate::recording;

/// A seed for an order, which nobody chose: short enough to be typed again.
pub(crate) fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::from(now.subsec_nanos()) % 1_000_000)
}

/// Measures starts of all contestants in turn, and keeps them in the history if that can be.
///
/// * `directory`: where contestants are mounted.
///
/// # Errors
///
/// If a start fails or is not cold, or the user interrupts.
pub(crate) fn measure(
    scenario: &Scenario,
    contestants: &[Contestant],
    directory: &Path,
    janitor: &Janitor,
    ui: &Ui,
) -> anyhow::Result<Study> {
    let starts = u64::from(scenario.runs) * contestants.len() as u64;
    let bar = ui
        .count("measuring", starts)
        .about("starts of every image, cold and warm, in turn");
    let mut done = 0;
    let mut report = |progress: Progress<'_>| -> ControlFlow<()> {
        let Progress {
            contestant,
            turn,
            turns,
            step,
        } = progress;
        match step {
            Step::Cooling => {
                let name = &contestants[contestant].name;
                bar.relabel(format!("turn {} of {turns}: {name}", turn + 1));
            }
            Step::WarmStarted { .. } | Step::Excluded(_) => done += 1,
            _ => {}
        }
        bar.set(done);
        ui.interrupt.poll()
    };
    let study = compare(scenario, contestants, directory, janitor, &mut report);
    let study = study.with_context(|| {
        let program = recording::quoted_program(&scenario.command);
        format!("cannot compare the starts of {program}")
    })?;
    bar.finish("");
    keep(&study, ui);
    Ok(study)
}

/// Puts the measurement into the history; what was to be proven is, whether that can be or not.
fn keep(study: &Study, ui: &Ui) {
    let keep = || -> anyhow::Result<()> {
        if state::path()?.is_some() {
            state::open()?.begin(study)?;
        }
        Ok(())
    };
    if let Err(error) = keep() {
        ui.warn(&format!("not kept: {error:#}"));
    }
}
