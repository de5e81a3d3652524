//! What counts, and who runs on after a failure.
//!
//! What is done to the machine is behind the trait [`Backend`]: the rules here are tested without
//! one.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use coldpress_history::{Figures, Run};

use super::matrix::{Build, Matrix, Unpack};
use super::order::Order;
use super::{Progress, Watch};
use crate::error::Error;

/// What a study asks of a machine.
pub(super) trait Backend {
    /// Makes an image, in place of the one before.
    fn build(&mut self, build: &Build, stop: &mut dyn FnMut() -> bool) -> Result<Attempt, Error>;
    /// Unpacks the image that was made last, and removes what was unpacked.
    fn unpack(&mut self, unpack: &Unpack, stop: &mut dyn FnMut() -> bool)
    -> Result<Attempt, Error>;
    /// Removes the image that was made last.
    fn clear(&mut self) -> Result<(), Error>;
}

/// How a run ended.
#[derive(Clone, Debug)]
pub(super) enum Attempt {
    /// The tool did what it should.
    Done {
        figures: Figures,
        /// What it told although it was done.
        warning: Option<String>,
    },
    /// It did not.
    Failed { why: String },
}

pub(super) struct Runner<'a, 'w, W> {
    pub(super) backend: W,
    pub(super) matrix: &'a Matrix,
    pub(super) turns: u32,
    pub(super) seed: u64,
    pub(super) cores: u32,
    pub(super) watch: Watch<'w>,
    /// Runs that are over, those that were left out among them.
    pub(super) done: u64,
    pub(super) warnings: BTreeSet<String>,
}

impl<W: Backend> Runner<'_, '_, W> {
    /// Makes all runs and appends each to `runs` when it is over.
    pub(super) fn run_all(&mut self, runs: &mut Vec<Run>) -> Result<(), Error> {
        let matrix = self.matrix;
        let mut order = Order::new(matrix, self.seed);
        for turn in 0..self.turns {
            for errand in order.turn() {
                let build = &matrix.builds[errand.build];
                let is_made = self.run(errand.build, turn, runs, |backend, stop| {
                    backend.build(build, stop)
                })?;
                for unpack in errand.unpacks {
                    if is_made {
                        let contestant = matrix.builds.len() + unpack;
                        let unpack = &matrix.unpacks[unpack];
                        self.run(contestant, turn, runs, |backend, stop| {
                            backend.unpack(unpack, stop)
                        })?;
                    } else {
                        self.done += 1;
                    }
                }
                self.backend.clear()?;
            }
        }
        Ok(())
    }

    /// Returns whether the tool did what it should.
    fn run(
        &mut self,
        contestant: usize,
        turn: u32,
        runs: &mut Vec<Run>,
        work: impl FnOnce(&mut W, &mut dyn FnMut() -> bool) -> Result<Attempt, Error>,
    ) -> Result<bool, Error> {
        if is_hopeless(contestant, runs) {
            self.done += 1;
            return Ok(false);
        }
        let now = Progress {
            contestant,
            turn,
            turns: self.turns,
            done: self.done,
            total: u64::from(self.turns) * self.matrix.contestant_count() as u64,
        };
        let progress = &mut self.watch.progress;
        if progress(now).is_break() {
            return Err(Error::Stopped);
        }
        let attempt = work(&mut self.backend, &mut || progress(now).is_break())?;
        // A signal of the terminal ends the tool as well, which must not look like its failure.
        if (self.watch.progress)(now) == ControlFlow::Break(()) {
            return Err(Error::Stopped);
        }
        let (figures, excluded) = match attempt {
            Attempt::Done { figures, warning } => {
                self.warnings.extend(warning);
                let excluded = self.impossible(&figures);
                (figures, excluded)
            }
            Attempt::Failed { why } => (Figures::new(), Some(why)),
        };
        let is_done = !figures.is_empty();
        let run = Run {
            contestant,
            turn,
            excluded,
            figures,
        };
        (self.watch.ended)(&run)?;
        runs.push(run);
        self.done += 1;
        Ok(is_done)
    }

    /// The clock of a virtual machine can stand still, that of its processes does not.
    fn impossible(&self, figures: &Figures) -> Option<String> {
        let used = figures.get("used_cores")?;
        (*used > f64::from(self.cores))
            .then(|| "it took less time than its own processor time".to_owned())
    }
}

/// Whether a contestant has failed and never counted: it would fail in all other turns too.
fn is_hopeless(contestant: usize, runs: &[Run]) -> bool {
    let mut own = runs.iter().filter(|run| run.contestant == contestant);
    own.clone().any(|run| run.figures.is_empty()) && own.all(|run| run.excluded.is_some())
}

#[cfg(test)]
mod tests;
