//! Opening an image: a file, a part of one, and why it cannot be opened.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use coldpress_format::{Corrupt, Part, Rule, SUPERBLOCK_SIZE};
use coldpress_image::{
    Error, Image, ImageFile, ImageOffset, Offset, Prefix, ReadAt, Sif, find_images, open_file,
    read_sif,
};
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

fn open_whole(path: &Path) -> anyhow::Result<Arc<dyn ReadAt>> {
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

fn first_image(path: &Path, file: &dyn ReadAt) -> anyhow::Result<u64> {
    let quoted = quoted(path);
    let unread = |error: Error| anyhow!(error).context(format!("cannot search {quoted}"));
    if let Some(start) = find_images(file).map_err(unread)?.first() {
        return Ok(*start);
    }
    if let Some(container) = read_sif(file).map_err(unread)? {
        let has_none = format!("the SIF container {quoted} has no partition of SquashFS 4.0");
        let error = match container.damage {
            Some(damage) => anyhow!(damage).context(has_none),
            None => anyhow!(has_none),
        };
        return Err(hint(
            error,
            "those of ext3 and encrypted ones cannot be read; `--offset BYTES` names any other \
            place",
        ));
    }
    Err(anyhow!(
        "no SquashFS 4.0 image begins in the first 64 MiB of {quoted}, or after the program there"
    ))
}

/// Why an image could not be opened, and what to do.
pub(crate) fn not_opened(path: &Path, place: &PlaceArgs, error: Error) -> anyhow::Error {
    let quoted = quoted(path);
    match error {
        Error::Open { source, .. } => anyhow!(source).context(format!("cannot open {quoted}")),
        Error::Corrupt(corrupt) => {
            if let Some(why) = why_no_image(&corrupt, place) {
                let error = anyhow!("{quoted} is not a SquashFS image: {why}");
                return hint(error, where_else(path));
            }
            let error = anyhow!(corrupt).context(format!("cannot read {quoted}"));
            hint(
                error,
                "the image is damaged or was cut short; fetch or build it again",
            )
        }
        error => anyhow!(error).context(format!("cannot read {quoted}")),
    }
}

/// Where in a file that is no image one may be.
fn where_else(path: &Path) -> String {
    let found = open_file(path)
        .ok()
        .and_then(|file| find_images(&file).ok());
    match found.as_deref() {
        Some([start, ..]) => format!(
            "a SquashFS image begins at byte {start} of it; verbs that read an image take \
             `--offset auto`"
        ),
        Some([]) => "none begins in its first 64 MiB either, as it would in an AppImage".to_owned(),
        None => "`--offset auto` looks for an image inside another file".to_owned(),
    }
}

/// Why a file is no image at all, if it is not a damaged one.
pub(crate) fn why_no_image(corrupt: &Corrupt, place: &PlaceArgs) -> Option<String> {
    if corrupt.part != Part::Superblock {
        return None;
    }
    let start = match place.offset {
        Some(ImageOffset::Bytes(start)) => Some(start),
        _ => None,
    };
    match corrupt.rule {
        Rule::Mismatch { field: "magic", .. } => {
            let at = start.map_or_else(String::new, |start| format!(" at byte {start}"));
            Some(format!("it does not begin with `hsqs`{at}"))
        }
        Rule::Truncated { needed, found } if needed == SUPERBLOCK_SIZE as u64 => {
            let from = start.map_or_else(String::new, |start| format!(" from byte {start} on"));
            Some(format!(
                "it has {found} bytes{from}, the first structure alone takes {needed}"
            ))
        }
        _ => None,
    }
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
