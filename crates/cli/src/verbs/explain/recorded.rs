//! What is explained: a cold start from the image as it is, or what is predicted of one by the
//! trace of another.

use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_calibration::Target;
use coldpress_cost::predict_in_detail;
use coldpress_explain::{CacheSizes, Origin, recorded_events};
use coldpress_host::{
    Cgroup, Command, Counters, Device, Janitor, LoopDevice, Mount, Outcome, RawEvent, Readahead,
    Recorder, Recording, Via, backing_disk, drop_caches, evict, machine, resident_pages, start,
};
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped, plural, quoted};
use coldpress_session::privileges;
use coldpress_session::ui::Ui;
use coldpress_session::work_dir::WorkDir;

use crate::image_file::Opened;
use crate::start::{Start, geometry, warn_of_missing};
use crate::verbs::explain::args::ExplainArgs;
use crate::{program, recording, steps};

/// Where the image is mounted: not in `/tmp`, which `--chroot` replaces inside the image.
const WORK_PARENT: &str = "/var/tmp";

/// Where events come from.
pub(super) enum Source {
    Start {
        command: Command,
        device: Device,
        readahead: Readahead,
    },
    Trace {
        name: String,
        start: Start,
        target: Box<Target>,
    },
}

/// What came of it.
pub(super) struct Recorded {
    pub(super) events: Vec<RawEvent>,
    /// What the loop device counted from before the command to its end.
    pub(super) counters: Counters,
    pub(super) wall_us: u64,
    pub(super) origin: Origin,
}

impl Source {
    /// # Errors
    ///
    /// If the device or the readiness is none, or the trace cannot be read.
    pub(super) fn resolve(args: &ExplainArgs, ui: &Ui) -> anyhow::Result<Self> {
        let readahead = args.readahead.one()?;
        let Some(path) = &args.trace else {
            return Ok(Self::Start {
                device: Device::parse(&args.device.name)?,
                readahead,
                command: program::of_image(&args.command.0)?,
            });
        };
        Ok(Self::Trace {
            name: quoted(path),
            start: Start::read_trace(path)?,
            target: Box::new(Target::resolve(&args.device.name, ui)?.with_readahead(readahead)),
        })
    }

    /// # Errors
    ///
    /// If this process lacks anything that a start needs.
    pub(super) fn demand_privileges(&self) -> anyhow::Result<()> {
        match self {
            Self::Start { .. } => privileges::require("recording"),
            Self::Trace { .. } => Ok(()),
        }
    }

    /// Starts the command, or predicts the start of the trace.
    ///
    /// # Errors
    ///
    /// If the image cannot be mounted or read, the start would not be cold, the command fails, or
    /// events were lost.
    pub(super) fn record(self, path: &Path, opened: &Opened, ui: &Ui) -> anyhow::Result<Recorded> {
        match self {
            Self::Start {
                command,
                device,
                readahead,
            } => {
                let janitor = Janitor::start()?;
                let work_dir = WorkDir::create(Path::new(WORK_PARENT), &[], Some(&janitor))?;
                let place = (path, opened.start);
                let device = (&device, readahead);
                record(place, &command, device, &work_dir, &janitor, ui)
            }
            Self::Trace {
                name,
                start,
                target,
            } => predicted(name, &start, &target, (path, opened), ui),
        }
    }
}

/// The caches of the running kernel.
pub(super) fn caches() -> CacheSizes {
    let mut caches = CacheSizes::default();
    if let Some(fragment_blocks) = machine().squashfs_cached_fragments {
        caches.fragment_blocks = fragment_blocks.into();
    }
    caches
}

/// The start of a trace as it would be recorded from the image, if the cost model is right.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a start takes some seconds"
)]
fn predicted(
    name: String,
    start: &Start,
    target: &Target,
    (path, opened): (&Path, &Opened),
    ui: &Ui,
) -> anyhow::Result<Recorded> {
    let source = steps::scan_image(path, opened.start, ui)?;
    let sequence = start.sequence(start.program_s(&source, target).unwrap_or(0.0));
    let geometry = geometry(opened, &sequence, ui)?;
    let (medium, machine) = (&target.medium, &target.machine);
    let (prediction, events) =
        predict_in_detail(&geometry, &sequence, medium, machine, &target.kernel);
    warn_of_missing(&prediction.missing, ui);
    Ok(Recorded {
        events: recorded_events(&opened.image, &geometry, &sequence, &events)?,
        counters: Counters {
            reads: prediction.reads,
            read_bytes: prediction.read_bytes,
        },
        wall_us: (prediction.time_s * 1e6) as u64,
        origin: Origin::Trace {
            name,
            is_calibrated: target.is_calibrated,
        },
    })
}

/// Starts a command from an image, cold, and records it.
///
/// * `image`: its file, and where it begins there.
///
/// # Errors
///
/// If the image cannot be mounted, the start would not be cold, the command fails, or events were
/// lost.
fn record(
    (image, start_byte): (&Path, u64),
    command: &Command,
    (device, readahead): (&Device, Readahead),
    work_dir: &WorkDir,
    janitor: &Janitor,
    ui: &Ui,
) -> anyhow::Result<Recorded> {
    let step = ui.step("recording", 0).about("a cold start");
    let loop_device = attach(image, start_byte, device, readahead)?;
    let mount = Mount::squashfs(&loop_device, &work_dir.mount_point())
        .with_context(|| format!("cannot mount {}", quoted(image)))?;
    readahead.after_mount(&loop_device)?;
    // Whatever the command leaves running would hold the mount.
    let cgroup = Cgroup::create("explain")?;
    janitor.watch(cgroup.leftover());
    if device.is_throttled() {
        let slow = match device.via {
            Via::Partition => loop_device.device_number(),
            Via::File => backing_disk(image)?,
        };
        cgroup.limit(slow, device)?;
    }
    let recorder = Recorder::start_in_detail(&mount, &loop_device, janitor)?;
    let before = loop_device.counters()?;
    let mut interrupted = || ui.interrupt.is_pending();
    let mut running = start(command, mount.root(), Some(&cgroup))?;
    running.wait(&mut interrupted)?;
    // How a program that is ready ends is no part of its start.
    let after = loop_device.counters()?;
    let recording = recorder.finish()?;
    let outcome = running.finish(&mut interrupted)?;
    let read_ahead_kib = loop_device.readahead_kib()?;
    let leftover = cgroup.leftover();
    drop(cgroup);
    janitor.forget(&leftover);
    mount.unmount()?;
    step.finish("");
    check(&outcome, command, &recording)?;
    let words = command.args.iter();
    Ok(Recorded {
        events: recording.events,
        counters: Counters {
            reads: after.reads.saturating_sub(before.reads),
            read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
        },
        wall_us: outcome.wall_ns / 1000,
        origin: Origin::Start {
            words: words.map(|word| escaped(word.as_encoded_bytes())).collect(),
            read_ahead_kib,
        },
    })
}

/// The image on a loop device of its own, with nothing of it in memory.
fn attach(
    image: &Path,
    start_byte: u64,
    device: &Device,
    readahead: Readahead,
) -> anyhow::Result<LoopDevice> {
    evict(image)?;
    drop_caches()?;
    let direct_io = device.via == Via::Partition;
    let loop_device = LoopDevice::attach_at(image, start_byte, direct_io)?;
    if direct_io && !loop_device.direct_io() {
        let image = quoted(image);
        let why = match start_byte {
            0 => format!("the file system of {image} has no direct I/O"),
            _ => format!("direct I/O cannot begin at byte {start_byte} of {image}"),
        };
        let error = anyhow!("{why}, so its image cannot act as a partition");
        return Err(hint(
            error,
            "put the image on a disk, or say `--device host,via=file`",
        ));
    }
    readahead.before_mount(&loop_device)?;
    let file = File::open(image).with_context(|| format!("cannot open {}", quoted(image)))?;
    let resident = resident_pages(&file)?;
    if resident > 0 {
        let pages = plural(resident, "page", "pages");
        let error = anyhow!("the start would not be cold: {pages} of the image stay in memory");
        return Err(hint(
            error,
            "end the programs that read the image, and put it on a disk, not in memory (tmpfs)",
        ));
    }
    Ok(loop_device)
}

fn check(outcome: &Outcome, command: &Command, recording: &Recording) -> anyhow::Result<()> {
    recording::check(outcome, command)?;
    if recording.lost_events > 0 {
        let lost = plural(recording.lost_events, "event", "events");
        let error = anyhow!("{lost} of the recording were lost");
        return Err(hint(error, "start again when the machine has less to do"));
    }
    if recording.events.is_empty() {
        let program = recording::quoted_program(command);
        let error = anyhow!("{program} used nothing of the image");
        return Err(hint(
            error,
            "write `{root}/...` for files of the image, or run the command inside it with --chroot",
        ));
    }
    Ok(())
}
