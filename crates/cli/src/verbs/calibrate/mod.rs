//! `coldpress calibrate`: the disk, memory and the kernel's reader measured, and kept.

pub(crate) mod args;

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use coldpress_calibration::SampleImage;
use coldpress_doctor::kernel::{self, Means};
use coldpress_doctor::reader::{COMPRESSORS, Known};
use coldpress_format::Compressor;
use coldpress_host::{
    Calibration, Device, Error, Janitor, Machine, MediumFigures, ReaderFigures, Sample, TestFile,
    is_root, machine, measure_medium, measure_memory, measure_reader, measure_throttled,
};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_report::units::{bytes_per_s, count, seconds};
use coldpress_session::exit::Exit;
use coldpress_session::failure::unless_stdout_closed;
use coldpress_session::ui::Ui;
use coldpress_session::{clock, state};

use crate::calibration;
use crate::verbs::calibrate::args::CalibrateArgs;
use coldpress_calibration::MEDIUM;

/// MiB of data for each second that may be taken: two cores compress it fifteen times in less than
/// half of that.
const PIECES_PER_S: f64 = 0.3;
/// MiB of data at least and at most.
const PIECES: (f64, f64) = (2.0, 16.0);
/// What part of the machine's memory an image may take: there are eighteen.
const MEMORY_SHARE: u64 = 128;
/// Parts of the time: writing a file, reading it, memory, the reader.
const WRITING: f64 = 0.05;
const MEDIUM_SHARE: f64 = 0.2;
const MEMORY: f64 = 0.02;
const READER: f64 = 0.3;
/// By how much a throttle may let more through than it says.
const EXCESS: f64 = 1.2;

pub(super) fn run(args: &CalibrateArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if args.show {
        return show(args, ui);
    }
    let started = Instant::now();
    let machine = machine();
    let mut kept = kept(&machine, ui);
    let device = args.device.as_deref().map(throttled).transpose()?;
    // A wrong place is told before the measurement.
    let place = calibration::place()?;
    let _hold = ui.interrupt.hold();
    let is_wrong = match &device {
        Some(device) => measure_throttle(device, args, &mut kept, ui)?,
        None => measure_all(args, &machine, &mut kept, ui)?,
    };
    let time = seconds(started.elapsed().as_secs_f64());
    let end = match &place {
        Some(path) => {
            calibration::write(&kept, path)?;
            format!("kept in {}", quoted(path))
        }
        None => format!("not kept, because {} says so", state::CALIBRATION),
    };
    unless_stdout_closed(print(&kept, args, ui))?;
    ui.say(&format!("calibrated in {time}; {end}"));
    Ok(Exit::partial_if(is_wrong))
}

/// Prints what is kept.
fn show(args: &CalibrateArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let (kept, path) = coldpress_calibration::read()?
        .context("nothing was calibrated yet")
        .map_err(|error| hint(error, "`coldpress calibrate` measures and keeps it"))?;
    if !kept.is_of(&machine()) {
        ui.warn(&format!(
            "{} is of another machine or kernel; predictions ignore it",
            quoted(&path)
        ));
    }
    print(&kept, args, ui)?;
    Ok(Exit::Done)
}

fn print(kept: &Calibration, args: &CalibrateArgs, ui: &Ui) -> anyhow::Result<()> {
    if args.json {
        return ui.json(&serde_json::to_value(kept)?);
    }
    let mut out = ui.out();
    out.write_all(coldpress_calibration::text(kept).as_bytes())?;
    out.flush()?;
    Ok(())
}

/// What is kept of this machine, to be replaced piece by piece; nothing of another one.
fn kept(machine: &Machine, ui: &Ui) -> Calibration {
    match coldpress_calibration::read() {
        Ok(Some((kept, _))) if kept.is_of(machine) => return kept,
        Ok(Some((_, path))) => ui.say(&format!(
            "{} is of another machine or kernel; the new calibration replaces it",
            quoted(&path)
        )),
        Ok(None) => {}
        Err(error) => ui.warn(&coldpress_report::failure::sentence(&error)),
    }
    Calibration::of(machine)
}

/// The device that is to be measured.
fn throttled(text: &str) -> anyhow::Result<Device> {
    let device = Device::parse(text)?;
    if !device.is_throttled() {
        let error = anyhow!("`{device}` is not slowed down, so there is no throttle to measure");
        return Err(hint(error, "omit --device to measure PATH as it is"));
    }
    if !is_root() {
        let error =
            anyhow!("`{device}` cannot be measured without root: only root can slow disks down");
        return Err(hint(error, "run it as root"));
    }
    Ok(device)
}

/// Measures what a throttle lets through; returns whether that is more than it says.
fn measure_throttle(
    device: &Device,
    args: &CalibrateArgs,
    kept: &mut Calibration,
    ui: &Ui,
) -> anyhow::Result<bool> {
    let time = Time::of(args);
    let janitor = Janitor::start()?;
    let spinner = ui.step("reading", 0).about("a disk that is slowed down");
    let stop = &mut || ui.interrupt.is_pending();
    let test_file = test_file(args, &time, stop)?;
    // Nothing else is measured, so all the time is for it.
    let (share, now) = (time.share(0.8), clock::now_unix_ms());
    let found = measure_throttled(&test_file, device, &janitor, share, now, stop)?;
    spinner.finish("");
    let more = excess(device, &found);
    if let Some(more) = &more {
        ui.warn(&format!(
            "the throttle of `{device}` lets more through than its limit: {more}"
        ));
    }
    kept.media.insert(device.name.clone(), found);
    Ok(more.is_some())
}

/// What a throttle lets through besides what it says.
fn excess(device: &Device, found: &MediumFigures) -> Option<String> {
    #[expect(clippy::cast_precision_loss, reason = "three digits matter")]
    let is_more = |found: f64, said: Option<u64>| said.filter(|said| found > *said as f64 * EXCESS);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are positive"
    )]
    let whole = |rate: f64| rate.round() as u64;
    if let Some(said) = is_more(found.bandwidth_bytes_per_s, device.read_bytes_per_s) {
        let found = bytes_per_s(whole(found.bandwidth_bytes_per_s));
        return Some(format!("{found} instead of {}", bytes_per_s(said)));
    }
    let said = is_more(found.reads_per_s, device.read_iops)?;
    let found = count(whole(found.reads_per_s));
    Some(format!(
        "{found} reads per second instead of {}",
        count(said)
    ))
}

/// Measures disk, memory and reader; returns whether the reader is not the kernel, or not measured
/// with all compressors.
fn measure_all(
    args: &CalibrateArgs,
    machine: &Machine,
    kept: &mut Calibration,
    ui: &Ui,
) -> anyhow::Result<bool> {
    let time = Time::of(args);
    let spinner = ui.step("reading", 0).about("the disk");
    let stop = &mut || ui.interrupt.is_pending();
    let test_file = test_file(args, &time, stop)?;
    let medium = measure_medium(
        &test_file,
        time.share(MEDIUM_SHARE),
        clock::now_unix_ms(),
        stop,
    )?;
    // Its file goes before memory is filled.
    drop(test_file);
    spinner.finish("");
    kept.media.insert(MEDIUM.to_owned(), medium);
    let memory = ui.task("memory", "Measure memory", || {
        measure_memory(time.share(MEMORY), clock::now_unix_ms())
    })?;
    kept.memory = Some(memory);
    let (reader, is_whole) = measure_decompression(&time, machine, ui)?;
    let is_wrong = !(reader.is_kernel && is_whole);
    kept.reader = Some(reader);
    Ok(is_wrong)
}

/// What is read: PATH, or a file there.
fn test_file(
    args: &CalibrateArgs,
    time: &Time,
    stop: &mut dyn FnMut() -> bool,
) -> anyhow::Result<TestFile> {
    // A directory is named by where it is, which a `.` in what is kept would not tell.
    let path = fs::canonicalize(&args.path);
    let path = path.with_context(|| format!("cannot find {}", quoted(&args.path)))?;
    let test_file = TestFile::at(&path, time.share(WRITING), stop);
    test_file.map_err(|error| match error {
        Error::NotMeasured { .. } => hint(
            error,
            "name a directory, a file or a block device of the disk to measure",
        ),
        error => error.into(),
    })
}

/// Measures decompression: by the kernel if it lets itself be measured, else by this process;
/// returns also whether there are figures of all compressors.
fn measure_decompression(
    time: &Time,
    machine: &Machine,
    ui: &Ui,
) -> anyhow::Result<(ReaderFigures, bool)> {
    let kernel = is_root()
        .then(|| kernel::this(Means::Configuration))
        .transpose()?;
    let is_there = |compressor: &Compressor| {
        kernel
            .as_ref()
            .is_none_or(|kernel| kernel.compressor(*compressor) != Known::No)
    };
    let compressors: Vec<Compressor> = COMPRESSORS.into_iter().filter(is_there).collect();
    let images = coldpress_calibration::make(&compressors, time.pieces(machine), ui)?;
    let samples: Vec<Sample<'_>> = images.iter().map(SampleImage::sample).collect();
    let spinner = ui
        .step("decompressing", 0)
        .about("the images, again and again");
    let share = time.share(READER);
    let threads = machine.cores;
    let stop = &mut || ui.interrupt.is_pending();
    let now = clock::now_unix_ms();
    let reader = match measure_reader(&samples, threads, share, now, stop) {
        Ok(reader) => reader,
        Err(Error::Stopped) => return Err(Error::Stopped.into()),
        Err(error) => {
            ui.warn(&format!(
                "{error}; so this process decompresses instead, at speeds other than the kernel's"
            ));
            coldpress_calibration::measure(&samples, threads, share, ui)?
        }
    };
    spinner.finish("");
    let disturbed = reader.disturbed(&samples);
    if !disturbed.is_empty() {
        ui.warn(&format!(
            "other programs disturbed all measurements of {}, of which nothing is kept; run \
            `coldpress calibrate` again \
             when they are done",
            disturbed.join(", ")
        ));
    }
    let is_whole = disturbed.is_empty();
    Ok((reader, is_whole))
}

/// The time that may be taken.
struct Time {
    whole_s: f64,
}

impl Time {
    fn of(args: &CalibrateArgs) -> Self {
        Self {
            whole_s: args.seconds.get().into(),
        }
    }

    fn share(&self, share: f64) -> Duration {
        Duration::from_secs_f64(self.whole_s * share)
    }

    /// MiB of data of each sample.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few"
    )]
    fn pieces(&self, machine: &Machine) -> usize {
        let memory = machine.memory_bytes.map_or(PIECES.1, |bytes| {
            f64::from(u32::try_from((bytes / MEMORY_SHARE) >> 20).unwrap_or(u32::MAX))
        });
        let most = PIECES.1.min(memory).max(PIECES.0);
        (self.whole_s * PIECES_PER_S).clamp(PIECES.0, most) as usize
    }
}
