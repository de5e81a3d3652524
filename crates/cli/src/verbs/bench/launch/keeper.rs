//! What becomes of the runs while a study goes on: the history, the progress bar.

use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;

use coldpress_bench::{Progress, Step, machine_facts};
use coldpress_history::{Run, State, Study};
use coldpress_report::text::escaped;
use coldpress_session::ui::{self, Ui};

use super::contestants::Contestants;
use crate::verbs::bench::launch::args::BenchLaunchArgs;
use crate::verbs::bench::study_store::StudyStore;

/// Follows a comparison and keeps each run when it is over.
pub(super) struct Keeper<'a> {
    args: &'a BenchLaunchArgs,
    contestants: &'a Contestants,
    ui: &'a Ui,
    study: Option<Study>,
    kept: Option<StudyStore>,
    /// Why a run could not be kept, which ends the study.
    failed: Option<anyhow::Error>,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(args: &'a BenchLaunchArgs, contestants: &'a Contestants, ui: &'a Ui) -> Self {
        Self {
            args,
            contestants,
            ui,
            study: None,
            kept: None,
            failed: None,
        }
    }

    /// Runs in all.
    pub(super) fn run_count(&self) -> u64 {
        u64::from(self.args.runs.number.get()) * self.contestants.list.len() as u64
    }

    /// Takes note of a step.
    pub(super) fn take(&mut self, progress: &Progress<'_>, bar: &ui::Step) -> ControlFlow<()> {
        let done = match progress.step {
            Step::Begun(study) => self.begin(study),
            Step::Finished(run) => self.keep(run),
            Step::Cooling => {
                let name = self.contestants.list.get(progress.contestant);
                let name = name.map_or("", |contestant| &contestant.name);
                let (turn, turns) = (progress.turn + 1, progress.turns);
                bar.relabel(format!("turn {turn} of {turns}: {name}"));
                Ok(())
            }
            _ => Ok(()),
        };
        bar.set(
            self.study
                .as_ref()
                .map_or(0, |study| study.runs.len() as u64),
        );
        match done {
            Ok(()) => self.ui.interrupt.poll(),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Puts the study away as it ended, and returns it; `None` if it never began.
    ///
    /// # Errors
    ///
    /// If a run could not be kept.
    pub(super) fn finish(self, state: State) -> anyhow::Result<Option<Study>> {
        let mut study = self.study;
        if let (Some(study), Some(kept)) = (&mut study, self.kept) {
            study.state = if self.failed.is_some() {
                State::Failed
            } else {
                state
            };
            kept.finish(study, self.ui)?;
        }
        self.failed.map_or(Ok(study), Err)
    }

    fn begin(&mut self, begun: &Study) -> anyhow::Result<()> {
        let mut study = begun.clone();
        let versions = self.contestants.versions.iter().cloned();
        // What the comparison itself says goes before what holds for the whole machine.
        let known = std::mem::take(&mut study.facts);
        study.facts = machine_facts(versions);
        study.facts.extend(known);
        let source = escaped(self.args.source.as_os_str().as_bytes());
        study.facts.insert("source".to_owned(), source);
        self.kept = Some(StudyStore::begin(&study, &self.args.study)?);
        self.study = Some(study);
        Ok(())
    }

    fn keep(&mut self, run: &Run) -> anyhow::Result<()> {
        if let Some(kept) = &mut self.kept {
            kept.append(run)?;
        }
        if let Some(study) = &mut self.study {
            study.runs.push(run.clone());
        }
        Ok(())
    }
}
