//! One boot of which each read of the disk is kept.

use std::path::Path;
use std::time::{Duration, Instant};

use coldpress_host::{DiskReads, Emulator, VirtualMachine};
use regex::Regex;

use super::backend::{End, follow};
use super::runner::why_not;
use super::watch::Watch;
use super::{BootContestant, BootScenario, guest};
use crate::Error;

/// Between two looks at whether a ready guest still reads.
const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// A boot, and what it read.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedBoot {
    /// Each read of the disk, the firmware's and the boot loader's too.
    pub disk: DiskReads,
    /// From the start of the machine until it was ready.
    pub boot_s: f64,
}

/// Boots an image once, and keeps what it read until it was ready.
///
/// The disk is as fast as this machine's, whatever `scenario` says of devices and runs.
///
/// * `quiet`: goes on until the disk was not read for so long, for what starts after the sign that
///   the guest is ready.
/// * `stop`: asked again and again; ends the boot.
///
/// # Errors
///
/// As [`boot`](super::boot).
pub fn record_boot(
    scenario: &BootScenario,
    image: &Path,
    quiet: Option<Duration>,
    stop: &mut dyn FnMut() -> bool,
) -> Result<RecordedBoot, Error> {
    let ready = Regex::new(&scenario.ready).map_err(Error::Pattern)?;
    let emulator = Emulator::find(&scenario.qemu, scenario.accelerator)?;
    let contestant = BootContestant {
        name: image.display().to_string(),
        image: image.to_path_buf(),
    };
    let guest = guest(scenario, &emulator, &contestant);
    let (mut machine, log) = VirtualMachine::make_recorded(&guest)?;
    let mut watch = Watch::new(&ready);
    let limit = Duration::from_secs(scenario.timeout_s);
    let begun = Instant::now();
    let ended = follow(&mut machine, &mut watch, limit, stop, &mut |_, _| {})?;
    let Some((end, at)) = ended else {
        return Err(Error::Stopped);
    };
    if end != End::Ready {
        return Err(Error::BootFailed {
            contestant: contestant.name,
            reason: why_not(&end, at.as_secs_f64()).unwrap_or_default(),
            console_tail: watch.tail(),
        });
    }
    let quiet = quiet.unwrap_or_default();
    while log.quiet_for() < quiet && begun.elapsed() < limit {
        if stop() {
            return Err(Error::Stopped);
        }
        // Who does not listen to its console makes the guest wait.
        machine.listen(LOOK_PAUSE)?;
    }
    Ok(RecordedBoot {
        disk: log.finish(machine)?,
        boot_s: at.as_secs_f64(),
    })
}
