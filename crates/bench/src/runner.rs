//! The order of a comparison, and what counts.
//!
//! Contestants run in turn, so that a machine that slows down slows all of them down; every second
//! turn runs backwards (A B C, C B A), so that none always follows the same other. What is done to
//! the machine is behind the trait [`Laboratory`]: the rules here are tested without one.

use std::ops::ControlFlow;
use std::path::Path;

use crate::comparison::Contestant;
use crate::error::Error;
use crate::run::{Excluded, Exit, Run};

/// How often the caches are dropped before a run is given up, [`Laboratory::cool`] pausing between
/// attempts. Readahead of the start before may still wait behind a throttle, its pages locked: 8 MB
/// at 5 MB/s took 2 s.
const COOLING_ATTEMPTS: u32 = 20;

/// Where a comparison is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Index of the contestant.
    pub contestant: usize,
    /// Number of the turn, from 0.
    pub turn: u32,
    /// Number of turns.
    pub turns: u32,
    /// What is done.
    pub step: Step,
}

/// What is done with a contestant in a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Caches are about to be dropped; told again for each attempt.
    Cooling,
    /// The cold start is about to begin.
    ColdStart,
    /// A start is under way; told at least ten times a second.
    Starting,
    /// The cold start has ended, in whatever way.
    ColdStarted {
        /// Its wall time.
        time_s: f64,
    },
    /// The warm start has ended, in whatever way.
    WarmStarted {
        /// Its wall time.
        time_s: f64,
    },
    /// The run is over and does not count.
    Excluded(Excluded),
}

/// What a comparison asks of a machine.
pub(crate) trait Laboratory {
    /// An image, mounted from a loop device of its own.
    type Mounted;

    /// Drops all caches; returns how many pages of `image` stayed, after a pause if there are any.
    fn cool(&mut self, image: &Path) -> Result<u64, Error>;
    /// Mounts the image. `None` if its loop device held another mount.
    fn mount(&mut self, image: &Path) -> Result<Option<Self::Mounted>, Error>;
    /// Reads and bytes read by the loop device since it was attached.
    fn counters(&mut self, mounted: &Self::Mounted) -> Result<(u64, u64), Error>;
    /// Runs the command to its end; `None` if `stop`, which is asked again and again, ended it.
    fn start(
        &mut self,
        mounted: &Self::Mounted,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Start>, Error>;
    /// Page cache of all files of the mount.
    fn page_cache_bytes(&mut self, mounted: &Self::Mounted) -> Result<u64, Error>;
    /// Ends all processes of the command and undoes the mount.
    fn unmount(&mut self, mounted: Self::Mounted) -> Result<(), Error>;
}

/// One start of the command.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) exit: Exit,
    pub(crate) timed_out: bool,
    pub(crate) stderr_tail: String,
}

/// Why the runs ended early.
#[derive(Debug)]
pub(crate) enum Halt {
    Interrupted,
    Error(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        Halt::Error(error)
    }
}

pub(crate) struct Runner<'a, L> {
    pub(crate) laboratory: L,
    pub(crate) contestants: &'a [Contestant],
    pub(crate) turns: u32,
    pub(crate) cores: u32,
    pub(crate) timeout_s: u64,
    pub(crate) progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
}

impl<L: Laboratory> Runner<'_, L> {
    /// Makes all runs and appends each to `runs` when it is over.
    pub(crate) fn run_all(&mut self, runs: &mut Vec<Run>) -> Result<(), Halt> {
        for turn in 0..self.turns {
            let mut order: Vec<usize> = (0..self.contestants.len()).collect();
            if turn % 2 == 1 {
                order.reverse();
            }
            for contestant in order {
                let mut run = Run {
                    contestant,
                    turn,
                    ..Run::default()
                };
                let measured = runs
                    .iter()
                    .any(|run| run.contestant == contestant && run.page_cache_bytes.is_some());
                run.excluded = self.run(&mut run, !measured)?;
                let excluded = run.excluded;
                runs.push(run);
                if let Some(reason) = excluded {
                    self.report(contestant, turn, Step::Excluded(reason))?;
                }
            }
        }
        Ok(())
    }

    /// Fills in `run`; returns why it does not count.
    fn run(&mut self, run: &mut Run, with_page_cache: bool) -> Result<Option<Excluded>, Halt> {
        let (contestant, turn) = (run.contestant, run.turn);
        let image = &self.contestants[contestant].image;
        let coldness = &mut run.coldness;
        while coldness.attempts < COOLING_ATTEMPTS {
            self.report(contestant, turn, Step::Cooling)?;
            coldness.attempts += 1;
            coldness.image_resident_pages = self.laboratory.cool(image)?;
            if coldness.image_resident_pages == 0 {
                break;
            }
        }
        if coldness.image_resident_pages > 0 {
            return Ok(Some(Excluded::StartedWarm {
                pages: coldness.image_resident_pages,
            }));
        }
        let mounted = self.laboratory.mount(image)?;
        coldness.fresh_superblock = Some(mounted.is_some());
        let Some(mounted) = mounted else {
            return Ok(Some(Excluded::MountedBefore));
        };
        let excluded = self.start_twice(&mounted, run)?;
        if excluded.is_none() && with_page_cache {
            // Last, because walking the mount reads all its metadata.
            run.page_cache_bytes = Some(self.laboratory.page_cache_bytes(&mounted)?);
        }
        self.laboratory.unmount(mounted)?;
        Ok(excluded)
    }

    fn start_twice(
        &mut self,
        mounted: &L::Mounted,
        run: &mut Run,
    ) -> Result<Option<Excluded>, Halt> {
        let (contestant, turn) = (run.contestant, run.turn);
        let (mount_reads, mount_read_bytes) = self.laboratory.counters(mounted)?;
        (run.mount_reads, run.mount_read_bytes) = (Some(mount_reads), Some(mount_read_bytes));
        self.report(contestant, turn, Step::ColdStart)?;
        let cold = self.start(mounted, contestant, turn)?;
        let (reads, read_bytes) = self.laboratory.counters(mounted)?;
        run.reads = Some(reads.saturating_sub(mount_reads));
        run.read_bytes = Some(read_bytes.saturating_sub(mount_read_bytes));
        (run.cold_s, run.cpu_s) = (Some(cold.wall_s), Some(cold.cpu_s));
        // Reported before it is judged: an interrupt often ends the command too, and must not look
        // like its failure.
        self.report(
            contestant,
            turn,
            Step::ColdStarted {
                time_s: cold.wall_s,
            },
        )?;
        if let Some(reason) = self.judge(run, "cold", &cold)? {
            return Ok(Some(reason));
        }
        let warm = self.start(mounted, contestant, turn)?;
        run.warm_s = Some(warm.wall_s);
        self.report(
            contestant,
            turn,
            Step::WarmStarted {
                time_s: warm.wall_s,
            },
        )?;
        Ok(self.judge(run, "warm", &warm)?)
    }

    fn start(&mut self, mounted: &L::Mounted, contestant: usize, turn: u32) -> Result<Start, Halt> {
        let now = Progress {
            contestant,
            turn,
            turns: self.turns,
            step: Step::Starting,
        };
        let progress = &mut self.progress;
        let mut stop = || progress(now).is_break();
        let start = self.laboratory.start(mounted, &mut stop)?;
        start.ok_or(Halt::Interrupted)
    }

    /// Whether a start counts. A command that fails in the first turn would fail in all others.
    fn judge(
        &self,
        run: &Run,
        which: &'static str,
        start: &Start,
    ) -> Result<Option<Excluded>, Error> {
        let contestant = || self.contestants[run.contestant].name.clone();
        let stderr_tail = start.stderr_tail.clone();
        if start.timed_out {
            if run.turn > 0 {
                return Ok(Some(Excluded::TimedOut));
            }
            return Err(Error::CommandTimedOut {
                contestant: contestant(),
                start: which,
                timeout_s: self.timeout_s,
                stderr_tail,
            });
        }
        if start.exit != Exit::Code(0) {
            if run.turn > 0 {
                return Ok(Some(Excluded::Failed { exit: start.exit }));
            }
            return Err(Error::CommandFailed {
                contestant: contestant(),
                start: which,
                exit: start.exit,
                stderr_tail,
            });
        }
        let impossible = start.wall_s * f64::from(self.cores) < start.cpu_s;
        Ok(impossible.then_some(Excluded::BelowCpuTime))
    }

    fn report(&mut self, contestant: usize, turn: u32, step: Step) -> Result<(), Halt> {
        match (self.progress)(Progress {
            contestant,
            turn,
            turns: self.turns,
            step,
        }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Halt::Interrupted),
        }
    }
}

#[cfg(test)]
mod tests;
