//! The comparison itself: from a scenario to a study with all its runs.

use std::ops::ControlFlow;
use std::path::Path;

use coldpress_history::{State, Study};
use coldpress_host::{Janitor, machine};
use coldpress_report::text::printable;

use crate::error::Error;
use crate::real::Real;
use crate::run::{Excluded, Run};
use crate::runner::{Halt, Progress, Runner, Step};
use crate::scenario::{Contestant, Scenario};
use crate::study::{begun, take_in};

/// Starts the command of `scenario` cold and warm from each contestant, in turn.
///
/// For each run the caches are dropped and checked, the contestant is mounted anew in a directory
/// below `work_dir` (an image from a fresh loop device), and the command is started twice: cold,
/// then warm. The first contestant is the baseline of all ratios.
///
/// * `progress`: called before and after each step, with every run that is over;
///   `ControlFlow::Break` ends the comparison.
///
/// Needs root ([`coldpress_host::missing_privileges`]). Call
/// [`coldpress_host::enter_private_namespace`] before, so that nothing stays mounted.
///
/// # Errors
///
/// [`Error::CommandFailed`], [`Error::CommandNotReady`] or [`Error::CommandTimedOut`] in the first
/// turn; [`Error::NothingCounted`] if a contestant has no valid run; [`Error::Interrupted`] with
/// the runs made so far; [`Error::NoDirectIo`]; what `host` reports. Everything is unmounted and
/// detached in all cases.
///
/// # Cost
///
/// Each run takes the time of a cold and a warm start, and the whole machine loses its caches.
pub fn compare(
    scenario: &Scenario,
    contestants: &[Contestant],
    work_dir: &Path,
    janitor: &Janitor,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Study, Error> {
    if contestants.is_empty() || scenario.runs == 0 {
        return Err(Error::NothingToCompare);
    }
    let mut study = begun(scenario, contestants)?;
    let before = Progress {
        contestant: 0,
        turn: 0,
        turns: scenario.runs,
        step: Step::Begun(&study),
    };
    if progress(before).is_break() {
        return Err(Error::Interrupted(Box::new(study)));
    }
    let mut runner = Runner {
        backend: Real::new(scenario, work_dir, janitor)?,
        contestants,
        turns: scenario.runs,
        seed: scenario.seed,
        walks: scenario.walk,
        cores: machine().cores,
        timeout_s: scenario.command.timeout_s,
        ready: printable(scenario.command.ready.text().as_bytes()),
        progress,
    };
    let mut runs = Vec::new();
    match runner.run_all(&mut runs) {
        Ok(()) => {
            each_counts(contestants, &runs)?;
            take_in(&mut study, &runs, State::Done);
            Ok(study)
        }
        Err(Halt::Interrupted) => {
            take_in(&mut study, &runs, State::Interrupted);
            Err(Error::Interrupted(Box::new(study)))
        }
        Err(Halt::Error(error)) => Err(error),
    }
}

/// Every contestant has a run that counts.
fn each_counts(contestants: &[Contestant], runs: &[Run]) -> Result<(), Error> {
    for (index, contestant) in contestants.iter().enumerate() {
        let of_one = || runs.iter().filter(|run| run.contestant == index);
        let reasons: Option<Vec<Excluded>> = of_one().map(|run| run.excluded).collect();
        if let Some(&reason) = reasons.as_deref().and_then(<[Excluded]>::last) {
            return Err(Error::NothingCounted {
                contestant: contestant.name.clone(),
                reason,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn a_contestant_without_a_valid_run_is_an_error_with_the_reason() {
        let contestants = ["plain", "ordered"].map(|name| Contestant::image(name, Path::new(name)));
        let mut runs = example::runs(2, 3);
        assert!(each_counts(&contestants, &runs).is_ok());
        for run in runs.iter_mut().filter(|run| run.contestant == 1) {
            run.excluded = Some(Excluded::StartedWarm { pages: 12 });
        }
        let error = each_counts(&contestants, &runs).unwrap_err().to_string();
        let expected = "no run of `ordered` counts; the last one was excluded because 12 pages of \
                        the image stayed in the page cache; it must be on a disk (not in tmpfs), \
                        and no other program may use it";
        assert_eq!(error, expected);
    }
}
