//! The order of a comparison, and what counts.
//!
//! Contestants run in turn, so that a machine that slows down slows all of them down, in an order
//! that is drawn for each turn ([`turns`]). What is done to the machine is behind the trait
//! [`Backend`]: the rules here are tested without one.

use std::ops::ControlFlow;

use coldpress_history::{Run as StudyRun, Study};

use crate::error::Error;
use crate::run::{Coldness, Excluded, Exit, Run};
use crate::scenario::{Contestant, What};
use crate::tree::Walk;
use crate::turns;

/// How often the caches are dropped before a run is given up, [`Backend::cool`] pausing between
/// attempts. Readahead of the start before may still wait behind a throttle, its pages locked: 8 MB
/// at 5 MB/s took 2 s.
const COOLING_ATTEMPTS: u32 = 20;

/// Where a comparison is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// Index of the contestant.
    pub contestant: usize,
    /// Number of the turn, from 0.
    pub turn: u32,
    /// Number of turns.
    pub turns: u32,
    /// What is done.
    pub step: Step<'a>,
}

/// What is done with a contestant in a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step<'a> {
    /// Nothing has run yet; this is what is known.
    Begun(&'a Study),
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
    /// All files are about to be read, and are being read; told at least ten times a second.
    Walking,
    /// The run is over and does not count.
    Excluded(Excluded),
    /// The run is over, whether it counts or not: to be kept, whatever happens next.
    Finished(&'a StudyRun),
}

/// What a comparison asks of a machine.
pub(crate) trait Backend {
    /// A contestant, mounted.
    type Mounted;

    /// Drops all caches; returns how many pages of the image or of the files stayed, after a pause
    /// if there are any.
    fn cool(&mut self, what: &What) -> Result<u64, Error>;
    /// Mounts the contestant. `None` if its loop device held another mount.
    fn mount(
        &mut self,
        what: &What,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Self::Mounted>, Error>;
    /// Reads and bytes read since mounting began; `None` if nobody counts them.
    fn counters(&mut self, mounted: &Self::Mounted) -> Result<Option<(u64, u64)>, Error>;
    /// Runs the command until it is ready and ends it; `None` if `stop`, which is asked again and
    /// again, ended it.
    fn start(
        &mut self,
        mounted: &Self::Mounted,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Start>, Error>;
    /// How far the kernel reads ahead in the files of the mount, in bytes, if it says.
    fn readahead_bytes(&mut self, mounted: &Self::Mounted) -> Option<u64>;
    /// Page cache of all files of the mount.
    fn page_cache_bytes(&mut self, mounted: &Self::Mounted) -> Result<u64, Error>;
    /// Reads every file; `None` if `stop` ended it.
    fn walk(
        &mut self,
        mounted: &Self::Mounted,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Walk>, Error>;
    /// Ends all processes of the command and undoes the mount.
    fn unmount(&mut self, mounted: Self::Mounted) -> Result<(), Error>;
}

/// One start of the command.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
    /// As of [`Backend::counters`], when it was ready and not when it had ended.
    pub(crate) counters: Option<(u64, u64)>,
    pub(crate) exit: Exit,
    pub(crate) became_ready: bool,
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
        match error {
            Error::Host(coldpress_host::Error::Stopped) => Halt::Interrupted,
            error => Halt::Error(error),
        }
    }
}

pub(crate) struct Runner<'a, L> {
    pub(crate) backend: L,
    pub(crate) contestants: &'a [Contestant],
    pub(crate) turns: u32,
    pub(crate) seed: u64,
    /// Whether every file is read too, after the starts.
    pub(crate) walks: bool,
    pub(crate) cores: u32,
    pub(crate) timeout_s: u64,
    /// What ends a start.
    pub(crate) ready: String,
    pub(crate) progress: &'a mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
}

impl<L: Backend> Runner<'_, L> {
    /// Makes all runs and appends each to `runs` when it is over.
    pub(crate) fn run_all(&mut self, runs: &mut Vec<Run>) -> Result<(), Halt> {
        for turn in 0..self.turns {
            for contestant in turns::order(self.seed, turn, self.contestants.len()) {
                let mut run = Run {
                    contestant,
                    turn,
                    ..Run::default()
                };
                let measured = runs
                    .iter()
                    .any(|run| run.contestant == contestant && run.page_cache_bytes.is_some());
                run.excluded = self.run(&mut run, !measured)?;
                let (excluded, finished) = (run.excluded, StudyRun::from(&run));
                runs.push(run);
                self.report(contestant, turn, Step::Finished(&finished))?;
                if let Some(reason) = excluded {
                    self.report(contestant, turn, Step::Excluded(reason))?;
                }
            }
        }
        Ok(())
    }

    /// Fills in `run`; returns why it does not count.
    fn run(&mut self, run: &mut Run, with_page_cache: bool) -> Result<Option<Excluded>, Halt> {
        let mut coldness = Coldness::default();
        let mounted = self.mount_cold(run, &mut coldness);
        run.coldness = coldness;
        let mounted = match mounted? {
            Ok(mounted) => mounted,
            Err(reason) => return Ok(Some(reason)),
        };
        let excluded = self.start_twice(&mounted, run)?;
        if excluded.is_none() && with_page_cache {
            // Last, because walking the mount reads all its metadata.
            run.page_cache_bytes = Some(self.backend.page_cache_bytes(&mounted)?);
        }
        self.backend.unmount(mounted)?;
        if excluded.is_none() && self.walks {
            self.walk(run)?;
        }
        Ok(excluded)
    }

    /// Mounts the contestant of a run, of which nothing is in memory; or tells why that is not so.
    fn mount_cold(
        &mut self,
        run: &Run,
        coldness: &mut Coldness,
    ) -> Result<Result<L::Mounted, Excluded>, Halt> {
        let (contestant, turn) = (run.contestant, run.turn);
        let what = &self.contestants[contestant].what;
        while coldness.attempts < COOLING_ATTEMPTS {
            self.report(contestant, turn, Step::Cooling)?;
            coldness.attempts += 1;
            coldness.image_resident_pages = self.backend.cool(what)?;
            if coldness.image_resident_pages == 0 {
                break;
            }
        }
        if coldness.image_resident_pages > 0 {
            return Ok(Err(Excluded::StartedWarm {
                pages: coldness.image_resident_pages,
            }));
        }
        let progress = &mut *self.progress;
        let mut stop = stop(progress, run, self.turns, Step::Cooling);
        let mounted = self.backend.mount(what, &mut stop)?;
        coldness.fresh_superblock = Some(mounted.is_some());
        Ok(mounted.ok_or(Excluded::MountedBefore))
    }

    fn start_twice(
        &mut self,
        mounted: &L::Mounted,
        run: &mut Run,
    ) -> Result<Option<Excluded>, Halt> {
        let (contestant, turn) = (run.contestant, run.turn);
        run.readahead_bytes = self.backend.readahead_bytes(mounted);
        let before = self.backend.counters(mounted)?;
        (run.mount_reads, run.mount_read_bytes) = before.unzip();
        self.report(contestant, turn, Step::ColdStart)?;
        let cold = self.start(mounted, run)?;
        let read = before.zip(cold.counters).map(|(before, after)| {
            let reads = after.0.saturating_sub(before.0);
            (reads, after.1.saturating_sub(before.1))
        });
        (run.reads, run.read_bytes) = read.unzip();
        (run.cold_s, run.cpu_s) = (Some(cold.wall_s), Some(cold.cpu_s));
        // Reported before it is judged: an interrupt often ends the command too, and must not look
        // like its failure.
        let time_s = cold.wall_s;
        self.report(contestant, turn, Step::ColdStarted { time_s })?;
        if let Some(reason) = self.judge(run, "cold", &cold)? {
            return Ok(Some(reason));
        }
        let warm = self.start(mounted, run)?;
        run.warm_s = Some(warm.wall_s);
        let time_s = warm.wall_s;
        self.report(contestant, turn, Step::WarmStarted { time_s })?;
        Ok(self.judge(run, "warm", &warm)?)
    }

    fn start(&mut self, mounted: &L::Mounted, run: &Run) -> Result<Start, Halt> {
        let progress = &mut *self.progress;
        let mut stop = stop(progress, run, self.turns, Step::Starting);
        let start = self.backend.start(mounted, &mut stop)?;
        start.ok_or(Halt::Interrupted)
    }

    /// Reads all files, cold again. If that cannot be, there is no such figure; the starts count
    /// all the same.
    fn walk(&mut self, run: &mut Run) -> Result<(), Halt> {
        let Ok(mounted) = self.mount_cold(run, &mut Coldness::default())? else {
            return Ok(());
        };
        let progress = &mut *self.progress;
        let mut stop = stop(progress, run, self.turns, Step::Walking);
        let walk = self.backend.walk(&mounted, &mut stop)?;
        self.backend.unmount(mounted)?;
        let walk = walk.ok_or(Halt::Interrupted)?;
        run.walk_s = Some(walk.time_s);
        run.walk_digest = Some(walk.digest.to_hex().to_string());
        Ok(())
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
                ready: self.ready.clone(),
                stderr_tail,
            });
        }
        if !start.became_ready && start.exit == Exit::Code(0) {
            let exit = start.exit;
            if run.turn > 0 {
                return Ok(Some(Excluded::NotReady { exit }));
            }
            return Err(Error::CommandNotReady {
                contestant: contestant(),
                start: which,
                exit,
                ready: self.ready.clone(),
                stderr_tail,
            });
        }
        if !start.became_ready {
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

    fn report(&mut self, contestant: usize, turn: u32, step: Step<'_>) -> Result<(), Halt> {
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

/// Whether a person wants to stop, asked while a step goes on.
fn stop<'a>(
    progress: &'a mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
    run: &Run,
    turns: u32,
    step: Step<'static>,
) -> impl FnMut() -> bool + use<'a> {
    let now = Progress {
        contestant: run.contestant,
        turn: run.turn,
        turns,
        step,
    };
    move || progress(now).is_break()
}

#[cfg(test)]
mod tests;
