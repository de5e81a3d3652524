//! The kernel's own events: a first image, mounted through the kernel, started from with cold
//! caches.
//!
//! The image has every inode and every listing on pages of its own, so the
//! reads of its loop device name what was looked up; see `MetadataLayout::Spread`.

use std::fs::File;
use std::path::PathBuf;

use anyhow::anyhow;
use coldpress_codec::Settings;
use coldpress_format::Compressor;
use coldpress_host::{
    Keep, LoopDevice, Mount, Recorder, drop_caches, evict, missing_privileges, resident_pages,
    start,
};
use coldpress_image::MetadataMap;
use coldpress_layout::Plan;
use coldpress_record::{Recorded, events};
use coldpress_report::failure::hint;
use coldpress_report::text::plural;
use coldpress_trace::Trace;
use coldpress_writer::{MetadataLayout, Output};

use super::{About, FIRST_IMAGE, Stage};
use crate::image_file::open_image;
use crate::steps;

pub(super) const TITLE: &str =
    "kernel: tracefs filemap events, lookups from reads of the loop device";
/// The fastest level: the image is read once.
const LEVEL: i32 = 1;

/// What of this recorder this process lacks.
pub(super) fn missing(_chroot: bool) -> Option<String> {
    let missing = missing_privileges();
    let names: Vec<&str> = missing.iter().map(|missing| missing.what).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Builds a first image of the source unless it is there, starts the command from it with cold
/// caches, and returns what it accessed.
///
/// # Errors
///
/// If the image cannot be built or mounted, the start would not be cold, the command fails, or
/// events were lost.
pub(super) fn record(stage: &Stage<'_>) -> anyhow::Result<Trace> {
    let map = MetadataMap::new(&open_image(&first_image(stage)?)?)?;
    let step = stage.ui.step("recording", 0).about("a cold start");
    let (loop_device, mount) = mount_cold(stage)?;
    let keep = Keep::FirstAccesses {
        each_read_of: map.listings(),
    };
    let recorder = Recorder::start(&mount, &loop_device, keep, stage.janitor)?;
    let (recording, outcome) = stage.run(
        |cgroup| start(stage.command, mount.root(), cgroup),
        || recorder.finish(),
    )?;
    let read_ahead_kib = loop_device.readahead_kib()?;
    mount.unmount()?;
    step.finish("");
    if recording.lost_events > 0 {
        let lost = plural(recording.lost_events, "event", "events");
        let error = anyhow!("{lost} of the recording were lost");
        return Err(hint(error, "record again when the machine has less to do"));
    }
    let tree = &stage.source.tree;
    let first_image = Recorded {
        map: &map,
        size_bytes: &|path: &[u8]| tree.file_size(tree.find(path)?),
        block_size: stage.settings.block_size,
    };
    let header = stage.header(About {
        recorder: TITLE,
        cold: "fresh loop device and mount, no page of the image resident".to_owned(),
        read_ahead_kib: Some(read_ahead_kib),
        block_size: Some(stage.settings.block_size),
        lost_events: 0,
        wall_ns: outcome.wall_ns,
    });
    let events = events(&recording, &first_image);
    stage.demand_events(Trace { header, events })
}

/// The same start without a recorder.
///
/// # Errors
///
/// As [`record`].
pub(super) fn unrecorded(stage: &Stage<'_>) -> anyhow::Result<u64> {
    first_image(stage)?;
    let (_loop_device, mount) = mount_cold(stage)?;
    let ((), outcome) = stage.run(
        |cgroup| start(stage.command, mount.root(), cgroup),
        || Ok(()),
    )?;
    mount.unmount()?;
    Ok(outcome.wall_ns)
}

/// The image to record from, built at the first call.
pub(super) fn first_image(stage: &Stage<'_>) -> anyhow::Result<PathBuf> {
    let Stage {
        source,
        settings,
        ui,
        ..
    } = *stage;
    let image = stage.work_dir.file(FIRST_IMAGE);
    if !image.exists() {
        let output = Output::create(&image)?;
        let mut options = settings.build_options(&source.tree, MetadataLayout::Spread);
        options.compression = Some(Settings::new(Compressor::Zstd, Some(LEVEL))?);
        let order = steps::order(source, &Plan::default(), settings, ui);
        steps::write("first image", source, &order, &output, &options, ui)?;
        steps::commit(output, ui)?;
    }
    Ok(image)
}

/// Mounts the first image where nobody else sees it, with nothing of it in memory.
fn mount_cold(stage: &Stage<'_>) -> anyhow::Result<(LoopDevice, Mount)> {
    let image = stage.work_dir.file(FIRST_IMAGE);
    evict(&image)?;
    drop_caches()?;
    let loop_device = LoopDevice::attach(&image, true)?;
    // Unless asked for, as in the comparison: less readahead caches less that was never asked for.
    stage.readahead.before_mount(&loop_device)?;
    let resident = resident_pages(&File::open(&image)?)?;
    if resident > 0 {
        let pages = plural(resident, "page", "pages");
        let error = anyhow!("the recorded start would not be cold: {pages} of it stay in memory");
        return Err(hint(
            error,
            "write to a disk, not to a file system in memory (tmpfs)",
        ));
    }
    let mount = Mount::squashfs(&loop_device, &stage.work_dir.mount_point())?;
    stage.readahead.after_mount(&loop_device)?;
    Ok((loop_device, mount))
}
