//! Recording a cold start of a source.
//!
//! The image that is started from has every inode and every listing on pages of its own, so the
//! reads of its loop device name what was looked up; see `Metadata::Spread`.

mod events;

use std::path::Path;

use anyhow::anyhow;
use coldpress_bench::READ_AHEAD_KIB;
use coldpress_build::{Metadata, Output, Source};
use coldpress_codec::Settings;
use coldpress_format::Compressor;
use coldpress_host::{
    Cgroup, Command, Janitor, LoopDevice, Mount, Outcome, Ready, Recorder, drop_caches, evict,
    machine, resident_pages, start,
};
use coldpress_image::MetadataMap;
use coldpress_layout::Plan;
use coldpress_trace::{Header, PAGE_SIZE_BYTES, Trace};

use self::events::events;

use crate::failure::hint;
use crate::resolve::ImageSettings;
use crate::steps;
use crate::text::{plural, quoted};
use crate::ui::Ui;
use crate::work_dir::WorkDir;

/// The image that is recorded, in the work directory.
pub(crate) const FIRST_IMAGE: &str = "first.sqfs";
/// The fastest level: the image is read once.
const LEVEL: i32 = 1;

/// Builds a first image of `source`, starts `command` from it with cold caches, and returns what
/// it accessed.
///
/// # Errors
///
/// If the image cannot be built or mounted, the start would not be cold, the command fails, or
/// events were lost.
pub(crate) fn record(
    source: &Source,
    name: &Path,
    command: &Command,
    settings: &ImageSettings,
    work_dir: &WorkDir,
    janitor: &Janitor,
    ui: &Ui,
) -> anyhow::Result<Trace> {
    let image = work_dir.file(FIRST_IMAGE);
    let output = Output::create(&image)?;
    let mut options = settings.build_options(&source.tree, Metadata::Spread);
    options.compression = Some(Settings::new(Compressor::Zstd, Some(LEVEL))?);
    let order = steps::order(source, &Plan::default(), settings, ui);
    steps::write("first image", source, &order, &output, &options, ui)?;
    steps::commit(output, ui)?;
    let map = MetadataMap::new(&steps::open_image(&image)?)?;

    let step = ui.step("recording", 0).about("a cold start");
    evict(&image)?;
    drop_caches()?;
    let loop_device = LoopDevice::attach(&image, true)?;
    // As in the comparison: less readahead caches less that was never asked for.
    loop_device.set_read_ahead_kib(READ_AHEAD_KIB.into())?;
    let resident = resident_pages(&std::fs::File::open(&image)?)?;
    if resident > 0 {
        let pages = plural(resident, "page", "pages");
        let error = anyhow!("the recorded start would not be cold: {pages} of it stay in memory");
        return Err(hint(
            error,
            "write to a disk, not to a file system in memory (tmpfs)",
        ));
    }
    let mount = Mount::squashfs(&loop_device, &work_dir.mount_point())?;
    let recorder = Recorder::start(&mount, &loop_device, janitor)?;
    // Whatever the command leaves running would hold the mount.
    let cgroup = Cgroup::create("record")?;
    janitor.watch(cgroup.leftover());
    let mut interrupted = || ui.interrupt.is_pending();
    let mut running = start(command, mount.root(), Some(&cgroup))?;
    running.wait(&mut interrupted)?;
    // How a program that is ready ends is no part of its start.
    let recording = recorder.finish()?;
    let outcome = running.finish(&mut interrupted)?;
    let read_ahead_kib = loop_device.read_ahead_kib()?;
    let leftover = cgroup.leftover();
    drop(cgroup);
    janitor.forget(&leftover);
    mount.unmount()?;
    step.finish("");
    check(&outcome, command)?;
    if recording.lost_events > 0 {
        let lost = plural(recording.lost_events, "event", "events");
        let error = anyhow!("{lost} of the recording were lost");
        return Err(hint(error, "record again when the machine has less to do"));
    }
    let events = events(&recording, &map, &source.tree, settings.block_size);
    if events.is_empty() {
        let error = anyhow!(
            "{}, started from the image, used no file of it",
            quoted_program(command)
        );
        return Err(hint(
            error,
            "write `{root}/...` for files of the image, or run the command inside it with --chroot",
        ));
    }
    let header = header(name, command, read_ahead_kib);
    Ok(Trace { header, events })
}

/// Refuses a command that failed, with the end of what it said.
///
/// # Errors
///
/// If it was not ready in time, or failed before.
pub(crate) fn check(outcome: &Outcome, command: &Command) -> anyhow::Result<()> {
    if outcome.became_ready {
        return Ok(());
    }
    let awaits_end = command.ready == Ready::Exit;
    let how = match (
        outcome.timed_out,
        outcome.status.code,
        outcome.status.signal,
    ) {
        (true, ..) if awaits_end => format!("did not end within {} s", command.timeout_s),
        (true, ..) => format!(
            "was not ready (`{}`) within {} s",
            command.ready.text(),
            command.timeout_s
        ),
        (_, Some(code), _) if !awaits_end => format!(
            "ended with exit status {code} before it was ready (`{}`)",
            command.ready.text()
        ),
        (_, Some(code), _) => format!("failed with exit status {code}"),
        (_, _, Some(signal)) => format!("was killed by signal {signal}"),
        _ => "ended in an unknown way".to_owned(),
    };
    let said = coldpress_bench::text::printable(outcome.stderr_tail.trim_ascii());
    let said = if said.is_empty() {
        "it said nothing".to_owned()
    } else {
        format!("it said: {said}")
    };
    let program = quoted_program(command);
    let error = anyhow!("{program}, started from the image, {how}; {said}");
    let advice = if outcome.timed_out {
        "raise --timeout, give a command that ends by itself, or say with --ready what shows that it is ready"
    } else {
        "the image is read-only, and only with --chroot is it the root directory"
    };
    Err(hint(error, advice))
}

/// The program of a command, for sentences.
pub(crate) fn quoted_program(command: &Command) -> String {
    quoted(Path::new(
        command
            .args
            .first()
            .map_or("".as_ref(), |arg| arg.as_os_str()),
    ))
}

fn header(name: &Path, command: &Command, read_ahead_kib: u64) -> Header {
    let words: Vec<String> = command
        .args
        .iter()
        .map(|arg| arg.display().to_string())
        .collect();
    let fields = [
        (
            "cold",
            "fresh loop device and mount, no page of the image resident".to_owned(),
        ),
        ("command", words.join(" ")),
        ("kernel", machine().kernel),
        ("lost-events", "0".to_owned()),
        ("page-size", PAGE_SIZE_BYTES.to_string()),
        ("read-ahead-kib", read_ahead_kib.to_string()),
        (
            "recorder",
            "tracefs filemap events, lookups from reads of the loop device".to_owned(),
        ),
        ("source", name.display().to_string()),
    ];
    // A value is one line of the file.
    let one_line = |value: String| {
        value
            .replace(|c: char| c.is_control(), " ")
            .trim()
            .to_owned()
    };
    Header {
        fields: fields
            .map(|(key, value)| (key.to_owned(), one_line(value)))
            .to_vec(),
    }
}
