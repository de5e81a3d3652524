//! One boot of a virtual machine, watched to its end.

use std::thread::sleep;
use std::time::{Duration, Instant};

use coldpress_host::{Counters, Guest, Heard, VirtualMachine};
use coldpress_report::units::as_f64;
use regex::Regex;

use super::chart::{ChartLine, ChartSample};
use super::processes;
use super::watch::{Sign, Watch};
use crate::Error;

/// Between two looks at disk and processors: ten a second draw a curve, and disturb nobody.
const SAMPLE_PAUSE: Duration = Duration::from_millis(100);

/// A serial console comes byte by byte, and to wake up for each would take the processor from the
/// guest.
const READ_PAUSE: Duration = Duration::from_millis(1);

/// What a study asks of virtual machines.
pub(super) trait Backend {
    /// Boots a contestant; `None` if `stop`, which is asked again and again, ended it.
    ///
    /// * `traced`: whether the kernel is to tell of each process, which slows the boot down.
    fn boot(
        &mut self,
        contestant: usize,
        traced: bool,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Boot>, Error>;
}

/// How a boot ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Ready,
    /// In the words of the guest.
    Lost(String),
    /// The guest switched itself off or asked for a second boot.
    SwitchedOff,
    TimedOut,
}

/// One boot.
#[derive(Clone, Debug)]
pub(super) struct Boot {
    pub(super) end: End,
    /// From the start of the machine to its end.
    pub(super) time_s: f64,
    pub(super) kernel_s: Option<f64>,
    /// The last one is that of the end, unless the guest was gone then.
    pub(super) samples: Vec<ChartSample>,
    pub(super) lines: Vec<ChartLine>,
    pub(super) console_tail: String,
}

/// Real machines.
pub(super) struct Machines {
    /// One for each contestant.
    pub(super) guests: Vec<Guest>,
    pub(super) ready: Regex,
    pub(super) timeout_s: u64,
}

impl Backend for Machines {
    fn boot(
        &mut self,
        contestant: usize,
        traced: bool,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Boot>, Error> {
        let mut guest = self.guests[contestant].clone();
        if let Some(kernel) = guest.kernel.as_mut().filter(|_| traced) {
            kernel.command_line.push_str(processes::WORDS);
        }
        let mut machine = VirtualMachine::make(&guest)?;
        let mut watch = Watch::new(&self.ready);
        let mut samples = vec![ChartSample::default()];
        let limit = Duration::from_secs(self.timeout_s);
        let ended = follow(&mut machine, &mut watch, limit, stop, &mut |machine, at| {
            samples.extend(sample(machine, at));
        })?;
        let Some((end, at)) = ended else {
            return Ok(None);
        };
        samples.extend(sample(&mut machine, at));
        Ok(Some(Boot {
            end,
            time_s: at.as_secs_f64(),
            kernel_s: guest.kernel.and(watch.first_of_userspace_s()),
            samples,
            console_tail: watch.tail(),
            lines: watch.into_lines(),
        }))
    }
}

/// Lets a machine boot until it is ready or lost, and returns how long that took; `None` if `stop`,
/// which is asked again and again, ended it.
///
/// * `look`: called ten times a second.
pub(super) fn follow(
    machine: &mut VirtualMachine,
    watch: &mut Watch<'_>,
    limit: Duration,
    stop: &mut dyn FnMut() -> bool,
    look: &mut dyn FnMut(&mut VirtualMachine, Duration),
) -> Result<Option<(End, Duration)>, Error> {
    let begun = Instant::now();
    machine.boot()?;
    let mut next_look = SAMPLE_PAUSE;
    loop {
        if stop() {
            return Ok(None);
        }
        let at = begun.elapsed();
        if at >= limit {
            return Ok(Some((End::TimedOut, at)));
        }
        if at >= next_look {
            look(machine, at);
            next_look = at + SAMPLE_PAUSE;
            if let Some(status) = machine.stopped_by() {
                return Ok(Some((End::Lost(format!("QEMU stopped it: {status}")), at)));
            }
        }
        let heard = machine.listen(next_look.min(limit).saturating_sub(at))?;
        let at = begun.elapsed();
        match heard {
            Heard::End => return Ok(Some((End::SwitchedOff, at))),
            Heard::Nothing => {}
            Heard::Bytes(bytes) => match watch.hear(at.as_secs_f64(), &bytes) {
                Some(Sign::Ready) => return Ok(Some((End::Ready, at))),
                Some(Sign::Lost(words)) => return Ok(Some((End::Lost(words), at))),
                None => sleep(READ_PAUSE),
            },
        }
    }
}

fn sample(machine: &mut VirtualMachine, at: Duration) -> Option<ChartSample> {
    let Counters { reads, read_bytes } = machine.counters()?;
    Some(ChartSample {
        at_s: at.as_secs_f64(),
        cpu_s: as_f64(machine.cpu_ns()?) / 1e9,
        reads,
        read_bytes,
    })
}
