//! The image of a command line.

use coldpress_dialects::unsquashfs::{Request, file, other_kind, other_version};
use coldpress_image::{Error, Image};

use crate::flags::place::PlaceArgs;
use crate::image_file;

/// Opens the image.
///
/// # Errors
///
/// If it cannot be read, is no image, or one of another version, which is named.
pub(super) fn open(request: &Request) -> anyhow::Result<Image> {
    let file = file(request)?;
    let kind = other_kind(&file);
    Image::new(Box::new(file)).map_err(|error| explained(request, error, kind))
}

/// Why an image cannot be read.
///
/// * `kind`: what [`other_kind`] says of it.
pub(super) fn explained(request: &Request, error: Error, kind: Option<String>) -> anyhow::Error {
    match kind {
        Some(kind) => other_version(request, &kind),
        None => image_file::not_opened(&request.image, &PlaceArgs::default(), error),
    }
}
