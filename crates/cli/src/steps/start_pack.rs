//! The start pack of an image that is not in place yet.

use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;

use anyhow::Context as _;
use coldpress_codec::Settings;
use coldpress_format::{Compressor, SUPERBLOCK_SIZE, pack_start};
use coldpress_image::{Image, Offset};
use coldpress_pack::{PackOptions, PackSummary, write_pack};
use coldpress_report::text::{plural, quoted};
use coldpress_report::units::{self, count};
use coldpress_session::ui::Ui;
use coldpress_trace::WorkingSet;
use coldpress_writer::Output;

use crate::flags::start_pack::PackLimit;
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
    let cannot = || format!("cannot add a start pack to {}", quoted(output.path()));
    let file = output.file();
    let offset_bytes = settings.offset_bytes;
    let inner = file.try_clone().with_context(cannot)?;
    let start = offset_bytes;
    let image = Image::new(Box::new(Offset { inner, start })).with_context(cannot)?;
    let mut superblock = [0; SUPERBLOCK_SIZE];
    file.read_exact_at(&mut superblock, offset_bytes)
        .with_context(cannot)?;
    let used_bytes = image.superblock().bytes_used;
    let mut out = file;
    let place = SeekFrom::Start(offset_bytes + pack_start(used_bytes));
    out.seek(place).with_context(cannot)?;
    let options = PackOptions {
        settings: compression(settings, image.superblock().compressor)?,
        limit_bytes: limit.bytes(used_bytes),
        threads: settings.threads,
    };
    let mut step = ui.step("packing", 0).about("pages of the start");
    let advance = &mut |done, total| {
        step.set_total(total);
        step.set(done);
        ui.interrupt.poll()
    };
    let summary = write_pack(&image, &superblock, set, &options, &mut out, advance);
    let summary = summary.with_context(cannot)?;
    let end = out.stream_position().with_context(cannot)?;
    // Of an earlier try, which was larger.
    file.set_len(end).with_context(cannot)?;
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

/// The kernel never reads a pack, so it need not be slow to decompress because the image is.
fn compression(settings: &ImageSettings, of_image: Compressor) -> anyhow::Result<Settings> {
    let level = settings.compression.map(|compression| compression.level);
    Ok(match of_image {
        Compressor::Zstd | Compressor::Xz | Compressor::Lz4 => Settings::new(of_image, level)?,
        Compressor::Gzip | Compressor::Lzo | Compressor::Lzma => {
            Settings::new(Compressor::Zstd, None)?
        }
    })
}
