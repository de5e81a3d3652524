//! Adding a pack to an image that lies in a file.

use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::num::NonZeroUsize;

use coldpress_codec::Settings;
use coldpress_format::{Compressor, pack_start};
use coldpress_image::{Image, Offset};
use coldpress_trace::WorkingSet;

use crate::error::Error;
use crate::limit::PackLimit;
use crate::write::{PackOptions, PackSummary, Progress, write_pack};

/// How a pack is added.
#[derive(Clone, Copy, Debug)]
pub struct AppendOptions {
    /// Bytes of the file before the image.
    pub offset_bytes: u64,
    /// What the pack may take.
    pub limit: PackLimit,
    /// The level of its compressor, if that is the image's; `None` is the compressor's default.
    pub level: Option<i32>,
    /// Threads that compress.
    pub threads: NonZeroUsize,
}

/// Writes the pack of an image after it, and ends the file there.
///
/// # Errors
///
/// [`Error`]; the image is whole in any case.
pub fn append_pack(
    file: &File,
    set: &WorkingSet,
    options: &AppendOptions,
    progress: Progress,
) -> Result<PackSummary, Error> {
    let start = options.offset_bytes;
    let inner = file.try_clone().map_err(Error::Write)?;
    let image = Image::new(Box::new(Offset { inner, start }))?;
    let used_bytes = image.superblock().bytes_used;
    let pack_options = PackOptions {
        settings: settings(image.superblock().compressor, options.level)?,
        limit_bytes: options.limit.bytes(used_bytes),
        threads: options.threads,
    };
    let mut out = file;
    let place = SeekFrom::Start(start + pack_start(used_bytes));
    out.seek(place).map_err(Error::Write)?;
    let summary = write_pack(&image, set, &pack_options, &mut out, progress)?;
    let end = out.stream_position().map_err(Error::Write)?;
    // What an earlier try wrote after that.
    file.set_len(end).map_err(Error::Write)?;
    Ok(summary)
}

/// The kernel never reads a pack, so it need not be slow to decompress because the image is.
fn settings(of_image: Compressor, level: Option<i32>) -> Result<Settings, coldpress_codec::Error> {
    match of_image {
        Compressor::Zstd | Compressor::Xz | Compressor::Lz4 => Settings::new(of_image, level),
        Compressor::Gzip | Compressor::Lzo | Compressor::Lzma => {
            Settings::new(Compressor::Zstd, None)
        }
    }
}
