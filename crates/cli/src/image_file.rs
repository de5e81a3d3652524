//! Opening an image: a file, a part of one, and why it cannot be opened.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use coldpress_describe::opening::{self, first_image};
use coldpress_image::{
    Error, Image, ImageFile, ImageOffset, Offset, Prefix, ReadAt, Sif, read_sif,
};
#[cfg(any(test, not(feature = "http")))]
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;

use crate::containers;
use crate::flags::place::PlaceArgs;

/// The bytes of an image, and what they are.
pub(crate) struct Opened {
    pub(crate) image: Image,
    /// Byte of the file at which it begins.
    pub(crate) start: u64,
    /// From the first byte of the image to the end of the file.
    pub(crate) bytes: Arc<dyn ReadAt>,
}

/// Opens an image.
///
/// # Errors
///
/// If the file cannot be read, or no SquashFS 4.0 image is at the place.
pub(crate) fn open(path: &Path, place: &PlaceArgs) -> anyhow::Result<Opened> {
    let (bytes, start) = open_from(path, place)?;
    let image =
        Image::new(Box::new(Arc::clone(&bytes))).map_err(|error| not_opened(path, place, error))?;
    Ok(Opened {
        image,
        start,
        bytes,
    })
}

/// Opens an image that begins where its file does.
///
/// # Errors
///
/// If the file cannot be read or is not a SquashFS 4.0 image.
pub(crate) fn open_image(path: &Path) -> anyhow::Result<Image> {
    open_image_at(path, &PlaceArgs::default())
}

/// Opens an image that begins where its file does, or is in a SIF container.
///
/// # Errors
///
/// As [`open_image`].
pub(crate) fn open_anywhere(path: &Path) -> anyhow::Result<Image> {
    let offset = container(path)?.map(|_| ImageOffset::Auto);
    open_image_at(path, &PlaceArgs { offset })
}

/// The SIF container that a file is; `None` if it is none.
///
/// # Errors
///
/// If the file cannot be read.
pub(crate) fn container(path: &Path) -> anyhow::Result<Option<Sif>> {
    let unread = |error: Error| anyhow!(error).context(format!("cannot read {}", quoted(path)));
    read_sif(&*open_whole(path)?).map_err(unread)
}

/// Opens an image, at its place in the file.
///
/// # Errors
///
/// If the file cannot be read or no SquashFS 4.0 image begins there.
pub(crate) fn open_image_at(path: &Path, place: &PlaceArgs) -> anyhow::Result<Image> {
    Ok(open(path, place)?.image)
}

/// Opens an image that is compared byte by byte: if it is said where in its file it begins, what
/// lies behind its padding is not its own.
///
/// # Errors
///
/// As [`open`].
pub(crate) fn open_alone(path: &Path, place: &PlaceArgs) -> anyhow::Result<Opened> {
    let opened = open(path, place)?;
    if place.offset.is_none() {
        return Ok(opened);
    }
    let failed = |error| not_opened(path, place, error);
    let bytes: Arc<dyn ReadAt> = Arc::new(Prefix {
        len: opened.image.padded_bytes().map_err(failed)?,
        inner: opened.bytes,
    });
    let image = Image::new(Box::new(Arc::clone(&bytes))).map_err(failed)?;
    Ok(Opened {
        image,
        bytes,
        ..opened
    })
}

/// The bytes from the place on at which the image is said to begin.
///
/// # Errors
///
/// If the file cannot be read, or an image is looked for in vain.
pub(crate) fn open_bytes(path: &Path, place: &PlaceArgs) -> anyhow::Result<Arc<dyn ReadAt>> {
    Ok(open_from(path, place)?.0)
}

/// The same, and where they begin in the file.
fn open_from(path: &Path, place: &PlaceArgs) -> anyhow::Result<(Arc<dyn ReadAt>, u64)> {
    let file = open_whole(path)?;
    let start = match place.offset {
        None => 0,
        Some(ImageOffset::Bytes(start)) => start,
        Some(ImageOffset::Auto) => first_image(path, &*file)?,
    };
    if start == 0 {
        return Ok((file, start));
    }
    Ok((Arc::new(Offset { inner: file, start }), start))
}

/// All bytes of a file, a URL or a container image.
///
/// # Errors
///
/// If it cannot be opened.
pub(crate) fn open_whole(path: &Path) -> anyhow::Result<Arc<dyn ReadAt>> {
    if let Some(url) = url(path) {
        return open_url(url);
    }
    if let Some(image) = containers::as_image(path)? {
        return Ok(Arc::new(image));
    }
    let file = ImageFile::open(path)
        .map_err(|error| anyhow!(error).context(format!("cannot open {}", quoted(path))))?;
    Ok(Arc::new(file))
}

/// The URL that a path is, if it is none of a file.
fn url(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let is_url = text.starts_with("http://") || text.starts_with("https://");
    (is_url && !path.exists()).then_some(text)
}

#[cfg(feature = "http")]
fn open_url(url: &str) -> anyhow::Result<Arc<dyn ReadAt>> {
    use anyhow::Context as _;
    use coldpress_image::{HttpOptions, HttpRange};
    let opened = HttpRange::open(url, &HttpOptions::default());
    Ok(Arc::new(opened.context("cannot open the image")?))
}

#[cfg(not(feature = "http"))]
fn open_url(_: &str) -> anyhow::Result<Arc<dyn ReadAt>> {
    Err(without_urls())
}

#[cfg(any(test, not(feature = "http")))]
fn without_urls() -> anyhow::Error {
    let error = anyhow!("cannot open the image: this coldpress was built without URLs");
    let advice = "fetch the image first, or build coldpress with `--features https`";
    hint(error, advice)
}

/// Why an image could not be opened, and what to do.
pub(crate) fn not_opened(path: &Path, place: &PlaceArgs, error: Error) -> anyhow::Error {
    opening::not_opened(path, place.offset, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use coldpress_report::failure::{hint_of, sentence};

    #[test]
    fn a_build_without_urls_says_what_to_do() {
        let error = without_urls();
        let said = "cannot open the image: this coldpress was built without URLs";
        assert_eq!(sentence(&error), said);
        assert!(hint_of(&error).is_some_and(|hint| hint.contains("--features https")));
    }
}
