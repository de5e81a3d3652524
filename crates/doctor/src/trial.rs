//! What this kernel does with small images, one of each compressor and filter.

pub(super) mod image;

use coldpress_format::Compressor;
use coldpress_host::{Trial, has_squashfs, try_image};

use super::reader::{COMPRESSORS, FILTERS, Known, Reader};

/// This kernel as it shows itself. Needs root and loop devices.
///
/// * `nothing`: what is known already, such as its pages.
///
/// # Errors
///
/// If it cannot be tried.
pub(super) fn reader(nothing: &Reader) -> anyhow::Result<Reader> {
    let mut reader = Reader {
        source: "small images that it was given to mount".to_owned(),
        ..nothing.clone()
    };
    if has_squashfs() == Some(false) {
        reader.squashfs = Known::No;
        return Ok(reader);
    }
    for (known, compressor) in reader.compressors.iter_mut().zip(COMPRESSORS) {
        *known = is_read(compressor, None)?;
    }
    reader.squashfs = Known::from(reader.compressors.contains(&Known::Yes));
    if reader.compressor(Compressor::Xz) == Known::Yes {
        for (known, (number, _)) in reader.filters.iter_mut().zip(FILTERS) {
            *known = is_read(Compressor::Xz, Some(number))?;
        }
    }
    Ok(reader)
}

fn is_read(compressor: Compressor, filter: Option<u64>) -> anyhow::Result<Known> {
    let made = image::make(compressor, filter)?;
    let trial = try_image(&made.bytes, image::FILE)?;
    Ok(Known::from(trial == Trial::Read(made.content)))
}
