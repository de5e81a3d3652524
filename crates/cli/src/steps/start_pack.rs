//! The start pack of an image that is not in place yet.

use anyhow::Context as _;
use coldpress_pack::{AppendOptions, PackLimit, PackSummary, append_pack};
use coldpress_report::text::{plural, quoted};
use coldpress_report::units::{self, count};
use coldpress_session::ui::Ui;
use coldpress_trace::WorkingSet;
use coldpress_writer::Output;

use crate::resolve::ImageSettings;

/// Writes the start pack of an image after it.
///
/// # Errors
///
/// If nothing of it can be packed, the disk refuses it, or the user interrupts.
pub(crate) fn add_start_pack(
    output: &Output,
    set: &WorkingSet,
    limit: PackLimit,
    settings: &ImageSettings,
    ui: &Ui,
) -> anyhow::Result<PackSummary> {
    let options = AppendOptions {
        offset_bytes: settings.offset_bytes,
        limit,
        level: settings.compression.map(|compression| compression.level),
        threads: settings.threads,
    };
    let mut step = ui.step("packing", 0).about("pages of the start");
    let summary = append_pack(output.file(), set, &options, &mut |done, total| {
        step.set_total(total);
        step.set(done);
        ui.interrupt.poll()
    });
    let cannot = || format!("cannot add a start pack to {}", quoted(output.path()));
    let summary = summary.with_context(cannot)?;
    step.finish("");
    Ok(summary)
}

/// `rootfs.sqfs: start pack of 46.1 MiB, 33,432 of 33,432 pages of 412 files`
pub(crate) fn start_pack_line(image: &str, pack: &PackSummary) -> String {
    format!(
        "{image}: start pack of {}, {} of {} of {}",
        units::bytes(pack.size_bytes),
        count(pack.pages),
        plural(pack.touched_pages, "page", "pages"),
        plural(pack.files, "file", "files"),
    )
}
