//! Boots of live images, compared in turn: a virtual machine each, from its start to a line on its
//! console.
//!
//! A machine of its own is always cold: nothing of the image can be in its memory, and what this
//! machine keeps of it in memory does not count, as the disk of the guest is read directly. No root
//! is needed, and nothing of the image is changed or added for the measurement.

mod backend;
mod chart;
mod drawing;
mod order;
mod processes;
mod recorded;
mod runner;
mod table;
mod units;
mod watch;

use std::ffi::OsString;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use coldpress_history::{Contestant, Facts, Figures, Kind, Origin, Run, State, Study};
use coldpress_host::{Accelerator, Device, DiskBus, Emulator, Guest, GuestKernel};
use coldpress_report::units::as_f64;
use regex::Regex;

use crate::Error;
pub use chart::{BootChart, ChartLine, ChartSample, Span};
pub use drawing::boot_chart_svg;

use backend::Machines;
pub use recorded::{RecordedBoot, record_boot};
use runner::Runner;
pub use table::{BootRow, boot_rows};

/// What every contestant has to do.
#[derive(Clone, Debug)]
pub struct BootScenario {
    /// The program of QEMU.
    pub qemu: OsString,
    /// What runs the processors of the guest; `None` is KVM where that works.
    pub accelerator: Option<Accelerator>,
    /// What to boot; `None` is the loader in the image.
    pub kernel: Option<GuestKernel>,
    /// How the image is attached.
    pub bus: DiskBus,
    /// The storage device to imitate.
    pub device: Device,
    /// Main memory of the guest, in MiB.
    pub memory_mib: u32,
    /// Processors of the guest.
    pub cpus: u32,
    /// A regular expression; the guest is ready once a line of its console matches, or what there
    /// is of a line: a prompt has no end.
    pub ready: String,
    /// A guest that is not ready after so many seconds has failed.
    pub timeout_s: u64,
    /// Number of turns: boots of each contestant.
    pub runs: u32,
    /// Decides the order within the turns.
    pub seed: u64,
    /// Whether a boot of each contestant is to be drawn, and one more made that is traced for it.
    pub charts: bool,
}

/// An image to boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootContestant {
    /// What it is called in tables and charts.
    pub name: String,
    /// The file.
    pub image: PathBuf,
}

/// Where a study of boots is.
#[derive(Clone, Copy, Debug)]
pub enum BootProgress<'a> {
    /// It begins: everything but the runs is known.
    Began(&'a Study),
    /// A contestant is about to be booted.
    Booting {
        /// Its index.
        contestant: usize,
        /// Number of the turn, from 0.
        turn: u32,
    },
    /// A contestant is about to be booted once more, traced, for its chart.
    Tracing {
        /// Its index.
        contestant: usize,
    },
    /// A boot is under way; told at least ten times a second.
    Waiting,
    /// A run is over; with the last words of the console if it does not count.
    Ended {
        /// The run.
        run: &'a Run,
        /// The last lines of the console.
        console_tail: &'a str,
    },
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Booted {
    /// All runs.
    pub study: Study,
    /// The median boot of each contestant, if charts were asked for.
    pub charts: Vec<BootChart>,
}

/// Boots each image again and again, in turns of random order.
///
/// * `facts`: of the machine, to be kept with the study.
/// * `progress`: called before, during and after each boot; `ControlFlow::Break` ends the study.
///
/// # Errors
///
/// [`Error::Pattern`]; [`Error::BootFailed`] if an image fails in the first turn, as it would in
/// all others; [`Error::Stopped`]; what `host` reports. The machines are destroyed in all cases.
///
/// # Cost
///
/// The time of the boots; the memory of one guest.
pub fn boot(
    scenario: &BootScenario,
    contestants: &[BootContestant],
    facts: Facts,
    progress: &mut dyn FnMut(BootProgress) -> ControlFlow<()>,
) -> Result<Booted, Error> {
    if contestants.is_empty() || scenario.runs == 0 {
        return Err(Error::NothingToCompare);
    }
    let ready = Regex::new(&scenario.ready).map_err(Error::Pattern)?;
    let emulator = Emulator::find(&scenario.qemu, scenario.accelerator)?;
    let mut study = begin(scenario, contestants, &emulator, facts)?;
    let mut runner = Runner {
        backend: Machines {
            guests: contestants
                .iter()
                .map(|one| guest(scenario, &emulator, one))
                .collect(),
            ready,
            timeout_s: scenario.timeout_s,
        },
        names: contestants.iter().map(|one| one.name.clone()).collect(),
        turns: scenario.runs,
        seed: scenario.seed,
        cpus: scenario.cpus,
        charts: scenario.charts,
        is_traceable: scenario.kernel.is_some(),
        progress,
    };
    let charts = runner.run_all(&mut study)?;
    study.state = State::Done;
    Ok(Booted { study, charts })
}

fn begin(
    scenario: &BootScenario,
    contestants: &[BootContestant],
    emulator: &Emulator,
    mut facts: Facts,
) -> Result<Study, Error> {
    facts.extend(conditions(scenario, emulator));
    let names: Vec<&str> = contestants.iter().map(|one| one.name.as_str()).collect();
    Ok(Study {
        kind: Kind::Boot,
        title: format!("boot of {}", names.join(", ")),
        began_unix_ms: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| {
                u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
            }),
        origin: Origin::Measured,
        state: State::Running,
        facts,
        contestants: contestants.iter().map(kept).collect::<Result<_, _>>()?,
        runs: Vec::new(),
    })
}

fn kept(contestant: &BootContestant) -> Result<Contestant, Error> {
    let metadata = fs::metadata(&contestant.image).map_err(|source| Error::Io {
        action: "look at",
        path: contestant.image.clone(),
        source,
    })?;
    Ok(Contestant {
        name: contestant.name.clone(),
        facts: Facts::new(),
        figures: Figures::from([("size_bytes".to_owned(), as_f64(metadata.len()))]),
    })
}

/// What the figures depend on.
fn conditions(scenario: &BootScenario, emulator: &Emulator) -> Facts {
    let mut facts = Facts::new();
    let mut say = |name: &str, value: String| facts.insert(name.to_owned(), value);
    say("device", scenario.device.name.clone());
    say("qemu", emulator.version.clone());
    say("accelerator", emulator.accelerator.name().to_owned());
    if let Some(words) = &emulator.without_kvm {
        say(
            "without_kvm",
            words.lines().next().unwrap_or_default().to_owned(),
        );
    }
    say("host_cache", "none: the disk is read directly".to_owned());
    say("guest_disk", scenario.bus.device_file().to_owned());
    say("guest_memory", format!("{} MiB", scenario.memory_mib));
    say("guest_cpus", scenario.cpus.to_string());
    say("ready", scenario.ready.clone());
    say("timeout", format!("{} s", scenario.timeout_s));
    say("turns", scenario.runs.to_string());
    say("seed", scenario.seed.to_string());
    if let Some(kernel) = &scenario.kernel {
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().display().to_string();
        say("guest_kernel", name(&kernel.image));
        say("command_line", kernel.command_line.clone());
        if let Some(initrd) = &kernel.initrd {
            say("guest_initrd", name(initrd));
        }
    }
    facts
}

fn guest(scenario: &BootScenario, emulator: &Emulator, contestant: &BootContestant) -> Guest {
    Guest {
        program: scenario.qemu.clone(),
        accelerator: emulator.accelerator,
        kernel: scenario.kernel.clone(),
        disk: contestant.image.clone(),
        bus: scenario.bus,
        device: scenario.device.clone(),
        memory_mib: scenario.memory_mib,
        cpus: scenario.cpus,
    }
}
