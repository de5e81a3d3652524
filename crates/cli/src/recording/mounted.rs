//! Recording a system that runs already, from a SquashFS that is mounted already.
//!
//! What it reads is known by the inode numbers of its image, which is read for their paths when all
//! is over: before, that would fill the very caches whose filling is recorded. Lookups are not
//! told: a compressed metadata block holds some hundred inodes, and which of them was wanted nobody
//! can say. What is certain is that the inodes whose data were used were looked up, and the
//! directories above them searched, as any trace implies.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf, absolute};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use coldpress_format::Body;
use coldpress_host::{
    Command, Error, FIRST_ACCESSES_MAX, Janitor, Keep, Ready, Recorder, Recording, Running,
    missing_privileges, start, wait_until,
};
use coldpress_image::{Image, MetadataMap};
use coldpress_record::{Recorded, events};
use coldpress_report::failure::hint;
use coldpress_report::text::{plural, quoted};
use coldpress_session::ui::Ui;
use coldpress_trace::Trace;

use super::{About, check, header};
use crate::image_file::open_image;

const TITLE: &str = "kernel: tracefs filemap events of a mounted image; lookups are not known";

/// By which the kernel knows a SquashFS.
const SQUASHFS_MAGIC: u64 = 0x7371_7368;

/// What ends the recording, besides a signal: whatever comes first.
pub(crate) struct Until<'a> {
    /// The end of its start.
    pub(crate) command: Option<&'a Command>,
    /// A condition; that of the command, if there is one.
    pub(crate) ready: &'a Ready,
    pub(crate) limit: Option<Duration>,
}

/// Records what is used of a mounted image, by anyone.
///
/// # Errors
///
/// If nothing of the kind is mounted there, this process may not listen, or the command fails.
pub(crate) fn record_mounted(mounted: &Path, until: &Until<'_>, ui: &Ui) -> anyhow::Result<Trace> {
    if until.command.is_none() && matches!(until.ready, Ready::Line(_)) {
        let error = anyhow!("nothing writes the line that --ready waits for");
        return Err(hint(error, "give the COMMAND that does so after `--`"));
    }
    let device = BlockDevice::below(mounted)?;
    let janitor = Janitor::start()?;
    let step = ui.step("recording", 0).about("what is used of the image");
    // What is read of the device is not told.
    let keep = Keep::FirstAccesses { each_read_of: 0..0 };
    let recorder =
        Recorder::start_on(device.number, keep, &janitor).map_err(|error| explain(error.into()))?;
    let started = Instant::now();
    let running = wait(mounted, until, ui)?;
    let wall_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    // How a program that is ready ends is no part of its start.
    let recording = recorder.finish()?;
    if let (Some(running), Some(command)) = (running, until.command) {
        let outcome = running.finish(&mut || ui.interrupt.is_pending())?;
        check(&outcome, command)?;
    }
    step.finish("");
    if recording.lost_events > 0 {
        let lost = plural(recording.lost_events, "event", "events");
        let limit = plural(FIRST_ACCESSES_MAX, "first access", "first accesses");
        ui.warn(&format!(
            "{lost} were lost; a recording keeps at most {limit}"
        ));
    }
    let image = open_image(&device.node)?;
    let about = About {
        recorder: TITLE,
        cold: "no: caches were as they were".to_owned(),
        read_ahead_kib: None,
        block_size: Some(image.superblock().block_size),
        lost_events: recording.lost_events,
        wall_ns,
    };
    let command = until.command.map_or(String::new(), |command| {
        let words: Vec<String> = command
            .args
            .iter()
            .map(|arg| arg.display().to_string())
            .collect();
        words.join(" ")
    });
    Ok(Trace {
        header: header(&mounted.display().to_string(), &command, about),
        events: named(&recording, &image)?,
    })
}

/// Waits for the end of the recording, of which a signal is one; returns the program, if that has
/// started.
fn wait(mounted: &Path, until: &Until<'_>, ui: &Ui) -> anyhow::Result<Option<Running>> {
    let mut stop = || ui.interrupt.is_pending();
    let Some(command) = until.command else {
        wait_until(until.ready, until.limit, &mut stop)?;
        return Ok(None);
    };
    // Absolute, because the command may change its working directory.
    let mut running = start(command, &absolute(mounted)?, None)?;
    match running.wait_at_most(until.limit, &mut stop) {
        Ok(()) => Ok(Some(running)),
        Err(Error::Stopped) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The events with the paths of the image.
fn named(recording: &Recording, image: &Image) -> anyhow::Result<Vec<coldpress_trace::Event>> {
    let map = MetadataMap::new(image)?;
    let size_bytes = |path: &[u8]| match image.find(path).ok()??.1.body {
        Body::File(file) => Some(file.size_bytes),
        _ => None,
    };
    let recorded = Recorded {
        map: &map,
        size_bytes: &size_bytes,
        block_size: image.superblock().block_size,
    };
    Ok(events(recording, &recorded))
}

/// Who may not listen is told what is missing.
fn explain(error: anyhow::Error) -> anyhow::Error {
    let missing = missing_privileges();
    let names: Vec<&str> = missing.iter().map(|missing| missing.what).collect();
    if names.is_empty() {
        return error;
    }
    let advice = format!(
        "run it as root, on Linux 6.12 or later; this process lacks {}",
        names.join(", ")
    );
    hint(error, advice)
}

/// What a mounted image lies on: a loop device, a partition, a disk.
struct BlockDevice {
    number: (u32, u32),
    /// Where its bytes are read, from the first byte of the image on.
    node: PathBuf,
}

impl BlockDevice {
    /// The device of the file system that a directory is of.
    ///
    /// # Errors
    ///
    /// If that is no SquashFS on a block device.
    fn below(mounted: &Path) -> anyhow::Result<Self> {
        let metadata =
            fs::metadata(mounted).with_context(|| format!("cannot read {}", quoted(mounted)))?;
        let number = (
            rustix::fs::major(metadata.dev()),
            rustix::fs::minor(metadata.dev()),
        );
        let (major, minor) = number;
        let path = PathBuf::from(format!("/sys/dev/block/{major}:{minor}/uevent"));
        let name = fs::read_to_string(path).ok().and_then(|text| {
            let name = text.lines().find_map(|line| line.strip_prefix("DEVNAME="));
            name.map(str::to_owned)
        });
        let not_squashfs = || {
            let error = anyhow!(
                "{} is not on a SquashFS that the kernel has mounted",
                quoted(mounted)
            );
            hint(
                error,
                "name the directory where the image itself is mounted, below an overlay for \
                example; \
                 /proc/mounts lists them",
            )
        };
        let kind = rustix::fs::statfs(mounted).map(|found| u64::try_from(found.f_type));
        if kind != Ok(Ok(SQUASHFS_MAGIC)) {
            return Err(not_squashfs());
        }
        let node = Path::new("/dev").join(name.ok_or_else(not_squashfs)?);
        Ok(Self { number, node })
    }
}
