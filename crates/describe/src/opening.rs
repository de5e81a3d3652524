//! Why an image cannot be opened, in words, and what to do.

use std::path::Path;

use anyhow::anyhow;
use coldpress_format::{Corrupt, Part, Rule, SUPERBLOCK_SIZE};
use coldpress_image::{Error, ImageOffset, ReadAt, find_images, open_file, read_sif};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;

/// Where the first image in a file begins, in bytes.
///
/// # Errors
///
/// If the file cannot be read, or an image is looked for in vain.
pub fn first_image(path: &Path, file: &dyn ReadAt) -> anyhow::Result<u64> {
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
///
/// * `offset`: where in the file it was said to begin.
pub fn not_opened(path: &Path, offset: Option<ImageOffset>, error: Error) -> anyhow::Error {
    let quoted = quoted(path);
    match error {
        Error::Open { source, .. } => anyhow!(source).context(format!("cannot open {quoted}")),
        Error::Corrupt(corrupt) => {
            if let Some(why) = why_no_image(&corrupt, offset) {
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
pub fn why_no_image(corrupt: &Corrupt, offset: Option<ImageOffset>) -> Option<String> {
    if corrupt.part != Part::Superblock {
        return None;
    }
    let start = match offset {
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
