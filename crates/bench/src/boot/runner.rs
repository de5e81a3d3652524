//! The turns of a study of boots, and what counts.

use std::ops::ControlFlow;

use coldpress_history::{Figures, Run, Study};
use coldpress_report::units::as_f64;

use super::BootProgress;
use super::backend::{Backend, Boot, End};
use super::chart::BootChart;
use super::order::order;
use super::processes::processes;
use crate::Error;

/// Processor time is counted in steps of 10 ms, at both ends of a boot.
const CPU_EXACT_TO_S: f64 = 0.02;

pub(super) struct Runner<'a, L> {
    pub(super) backend: L,
    pub(super) names: Vec<String>,
    pub(super) turns: u32,
    pub(super) seed: u64,
    pub(super) cpus: u32,
    pub(super) charts: bool,
    /// Whether the kernel can be told to trace: one of a loader in the image cannot.
    pub(super) is_traceable: bool,
    pub(super) progress: &'a mut dyn FnMut(BootProgress) -> ControlFlow<()>,
}

impl<L: Backend> Runner<'_, L> {
    /// Makes all runs, and the charts if there are to be any.
    pub(super) fn run_all(&mut self, study: &mut Study) -> Result<Vec<BootChart>, Error> {
        self.tell(BootProgress::Began(study))?;
        let mut counted: Vec<Vec<Boot>> = self.names.iter().map(|_| Vec::new()).collect();
        for turn in 0..self.turns {
            for contestant in order(self.seed, turn, self.names.len()) {
                self.tell(BootProgress::Booting { contestant, turn })?;
                let boot = self.boot(contestant, false)?;
                let run = Run {
                    contestant,
                    turn,
                    excluded: why_not_counted(&boot, self.cpus),
                    figures: figures(&boot),
                };
                let ended = BootProgress::Ended {
                    run: &run,
                    console_tail: &boot.console_tail,
                };
                self.tell(ended)?;
                if let Some(reason) = run.excluded.as_ref().filter(|_| turn == 0) {
                    return Err(Error::BootFailed {
                        contestant: self.names[contestant].clone(),
                        reason: reason.clone(),
                        console_tail: boot.console_tail,
                    });
                }
                if run.excluded.is_none() && self.charts {
                    counted[contestant].push(boot);
                }
                study.runs.push(run);
            }
        }
        if !self.charts {
            return Ok(Vec::new());
        }
        let medians = counted.into_iter().enumerate();
        medians
            .filter_map(|(contestant, boots)| Some((contestant, median(boots)?)))
            .map(|(contestant, boot)| self.chart(contestant, boot))
            .collect()
    }

    /// Draws a boot, with the processes of one more if its kernel can be told to trace.
    fn chart(&mut self, contestant: usize, boot: Boot) -> Result<BootChart, Error> {
        let mut chart = BootChart::new(&self.names[contestant], self.cpus, boot);
        if self.is_traceable {
            self.tell(BootProgress::Tracing { contestant })?;
            let traced = self.boot(contestant, true)?;
            // One that failed shows nothing; the boots that count did not.
            if traced.end == End::Ready {
                chart.processes = processes(&traced.lines, traced.time_s);
                chart.traced_boot_s = Some(traced.time_s).filter(|_| !chart.processes.is_empty());
            }
        }
        Ok(chart)
    }

    fn boot(&mut self, contestant: usize, traced: bool) -> Result<Boot, Error> {
        let progress = &mut self.progress;
        let mut stop = || progress(BootProgress::Waiting).is_break();
        let boot = self.backend.boot(contestant, traced, &mut stop)?;
        boot.ok_or(Error::Stopped)
    }

    fn tell(&mut self, what: BootProgress) -> Result<(), Error> {
        match (self.progress)(what) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped),
        }
    }
}

fn figures(boot: &Boot) -> Figures {
    let mut figures = Figures::from([("boot_s".to_owned(), boot.time_s)]);
    let mut add = |name: &str, value: f64| figures.insert(name.to_owned(), value);
    if let Some(kernel_s) = boot.kernel_s {
        add("kernel_s", kernel_s);
    }
    // The sample of the end; a guest that is gone has none, and does not count.
    if let Some(last) = boot.samples.last() {
        add("cpu_s", last.cpu_s);
        add("reads", as_f64(last.reads));
        add("read_bytes", as_f64(last.read_bytes));
    }
    figures
}

/// Why a boot does not count.
fn why_not_counted(boot: &Boot, cpus: u32) -> Option<String> {
    let busy_s = boot.samples.last().map_or(0.0, |last| last.cpu_s);
    if boot.end == End::Ready && busy_s > (boot.time_s + CPU_EXACT_TO_S) * f64::from(cpus) {
        return Some("the boot took less time than its processors worked".to_owned());
    }
    why_not(&boot.end, boot.time_s)
}

/// Why a guest was not ready.
pub(super) fn why_not(end: &End, time_s: f64) -> Option<String> {
    match end {
        End::Ready => None,
        End::Lost(words) => Some(format!("the guest gave up: {words}")),
        End::SwitchedOff => Some("the guest ended before it was ready".to_owned()),
        End::TimedOut => Some(format!("the guest was not ready after {time_s:.0} s")),
    }
}

/// The boot in the middle, the faster of two.
fn median(mut boots: Vec<Boot>) -> Option<Boot> {
    boots.sort_by(|one, other| one.time_s.total_cmp(&other.time_s));
    let middle = boots.len().checked_sub(1)? / 2;
    Some(boots.swap_remove(middle))
}

#[cfg(test)]
mod tests;
