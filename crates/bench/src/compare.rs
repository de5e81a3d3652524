//! The comparison itself: from a scenario to all its runs.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use coldpress_host::{Janitor, machine};

use crate::comparison::{
    CommandFacts, Comparison, Contestant, ContestantFacts, DeviceFacts, MachineFacts,
    READ_AHEAD_KIB, Scenario, What,
};
use crate::error::Error;
use crate::real::Real;
use crate::runner::{Halt, Progress, Runner, Step};
use crate::tree;

/// Starts the command of `scenario` cold and warm from each contestant, in turn.
///
/// For each run the caches are dropped and checked, the contestant is mounted anew in a directory below `work_dir` (an
/// image from a fresh loop device), and the command is started twice: cold, then warm. The first contestant is the
/// baseline of all ratios.
///
/// * `progress`: called before and after each step, with every run that is over; `ControlFlow::Break` ends the
///   comparison.
///
/// Needs root ([`coldpress_host::missing_privileges`]). Call
/// [`coldpress_host::enter_private_namespace`] before, so that nothing stays mounted.
///
/// # Errors
///
/// [`Error::CommandFailed`], [`Error::CommandNotReady`] or [`Error::CommandTimedOut`] in the first turn;
/// [`Error::NothingCounted`] if a contestant has no valid run; [`Error::Interrupted`] with the runs
/// made so far; [`Error::NoDirectIo`]; what `host` reports. Everything is unmounted and detached in
/// all cases.
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
) -> Result<Comparison, Error> {
    if contestants.is_empty() || scenario.runs == 0 {
        return Err(Error::NothingToCompare);
    }
    let machine = MachineFacts::from(machine());
    let mut comparison = Comparison {
        seed: scenario.seed,
        began_unix_s: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_secs()),
        device: DeviceFacts::from(&scenario.device),
        command: CommandFacts::from(&scenario.command),
        read_ahead_kib: READ_AHEAD_KIB,
        turns: scenario.runs,
        contestants: contestants.iter().map(facts).collect::<Result<_, _>>()?,
        runs: Vec::new(),
        machine,
    };
    let begun = Progress {
        contestant: 0,
        turn: 0,
        turns: scenario.runs,
        step: Step::Begun(&comparison),
    };
    if progress(begun).is_break() {
        return Err(Error::Interrupted(Box::new(comparison)));
    }
    let mut runner = Runner {
        backend: Real::new(scenario, work_dir, janitor)?,
        contestants,
        turns: scenario.runs,
        seed: scenario.seed,
        walks: scenario.walk,
        cores: comparison.machine.cores,
        timeout_s: scenario.command.timeout_s,
        ready: comparison.command.ready.clone(),
        progress,
    };
    match runner.run_all(&mut comparison.runs) {
        Ok(()) => checked(comparison),
        Err(Halt::Interrupted) => Err(Error::Interrupted(Box::new(comparison))),
        Err(Halt::Error(error)) => Err(error),
    }
}

fn facts(contestant: &Contestant) -> Result<ContestantFacts, Error> {
    let path = contestant.what.path();
    let size_bytes = match &contestant.what {
        What::Image { .. } => {
            let metadata = fs::metadata(path).map_err(Error::io("look at", path))?;
            metadata.len()
        }
        What::Directory(directory) => tree::size_bytes(directory)?,
    };
    Ok(ContestantFacts {
        name: contestant.name.clone(),
        size_bytes,
        facts: contestant.facts.clone(),
        figures: contestant.figures.clone(),
    })
}

/// A comparison in which every contestant has a run that counts.
fn checked(comparison: Comparison) -> Result<Comparison, Error> {
    for (index, contestant) in comparison.contestants.iter().enumerate() {
        if comparison.counted(index).next().is_some() {
            continue;
        }
        let last = comparison
            .excluded()
            .filter(|run| run.contestant == index)
            .last();
        if let Some(reason) = last.and_then(|run| run.excluded) {
            return Err(Error::NothingCounted {
                contestant: contestant.name.clone(),
                reason,
            });
        }
    }
    Ok(comparison)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::run::Excluded;

    #[test]
    fn a_contestant_without_a_valid_run_is_an_error_with_the_reason() {
        let mut comparison = example::comparison(&["plain", "ordered"], 3);
        for run in comparison.runs.iter_mut().filter(|run| run.contestant == 1) {
            run.excluded = Some(Excluded::StartedWarm { pages: 12 });
        }
        let error = checked(comparison).unwrap_err().to_string();
        let expected = "no run of `ordered` counts; the last one was excluded because 12 pages of \
                        the image stayed in the page cache; it must be on a disk (not in tmpfs), \
                        and no other program may use it";
        assert_eq!(error, expected);
        assert!(checked(example::comparison(&["plain", "ordered"], 3)).is_ok());
    }
}
