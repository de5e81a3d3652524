//! A study of boots under way: shown, and kept boot by boot.

use std::ops::ControlFlow;

use coldpress_bench::{BootContestant, BootProgress};
use coldpress_history::{Run, State, Study};
use coldpress_report::text::escaped;
use coldpress_session::ui::{Step, Ui};

use crate::verbs::bench::boot::args::BootArgs;
use crate::verbs::bench::study_store::StudyStore;

/// Follows a study and keeps each run when it is over.
pub(super) struct Watcher<'a> {
    args: &'a BootArgs,
    contestants: &'a [BootContestant],
    ui: &'a Ui,
    bar: Step,
    study: Option<Study>,
    kept: Option<StudyStore>,
    /// Why a run could not be kept, which ends the study.
    failed: Option<anyhow::Error>,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(args: &'a BootArgs, contestants: &'a [BootContestant], ui: &'a Ui) -> Self {
        let boots = u64::from(args.runs.number.get()) * contestants.len() as u64;
        Self {
            args,
            contestants,
            ui,
            bar: ui.count("booting", boots),
            study: None,
            kept: None,
            failed: None,
        }
    }

    /// Takes note of a step.
    pub(super) fn take(&mut self, progress: BootProgress) -> ControlFlow<()> {
        let name = |contestant: usize| {
            let contestant = self.contestants.get(contestant);
            contestant.map_or(String::new(), |one| escaped(one.name.as_bytes()))
        };
        let done = match progress {
            BootProgress::Began(study) => self.begin(study),
            BootProgress::Booting { contestant, turn } => {
                let (turn, turns) = (turn + 1, self.args.runs.number);
                let label = format!("turn {turn} of {turns}: {}", name(contestant));
                self.bar.relabel(label);
                Ok(())
            }
            BootProgress::Tracing { contestant } => {
                self.bar.relabel(format!("tracing {}", name(contestant)));
                Ok(())
            }
            BootProgress::Waiting => Ok(()),
            BootProgress::Ended { run, console_tail } => {
                // The first turn ends the study instead, with an error.
                if let Some(reason) = run.excluded.as_ref().filter(|_| run.turn > 0) {
                    let (name, turn) = (name(run.contestant), run.turn + 1);
                    self.ui.warn(&format!(
                        "turn {turn} of `{name}` does not count: {reason}; its console ended \
                        with:\n{console_tail}"
                    ));
                }
                self.keep(run)
            }
        };
        match done {
            Ok(()) => self.ui.interrupt.poll(),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Puts the study away as it ended.
    ///
    /// # Errors
    ///
    /// If a run could not be kept.
    pub(super) fn finish(self, state: State) -> anyhow::Result<()> {
        self.bar.finish("");
        if let (Some(mut study), Some(kept)) = (self.study, self.kept) {
            study.state = match self.failed {
                Some(_) => State::Failed,
                None => state,
            };
            kept.finish(&study, self.ui)?;
        }
        self.failed.map_or(Ok(()), Err)
    }

    fn begin(&mut self, study: &Study) -> anyhow::Result<()> {
        if let Some(words) = study.facts.get("without_kvm") {
            self.ui.warn(&format!(
                "KVM does not work here, so QEMU imitates the processor: times are many times \
                those of a real machine, \
                 reads and bytes are not ({})",
                escaped(words.as_bytes())
            ));
        }
        self.kept = Some(StudyStore::begin(study, &self.args.study)?);
        self.study = Some(study.clone());
        Ok(())
    }

    fn keep(&mut self, run: &Run) -> anyhow::Result<()> {
        if let Some(kept) = &mut self.kept {
            kept.append(run)?;
        }
        if let Some(study) = &mut self.study {
            study.runs.push(run.clone());
            self.bar.set(study.runs.len() as u64);
        }
        Ok(())
    }
}
