//! What `coldpress calibrate` keeps for predictions.

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use coldpress_host::Calibration;
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::state;
use coldpress_writer::Output;

use crate::steps;

/// By which name the medium is kept that was measured as it is.
pub(crate) const MEDIUM: &str = "calibrated";

/// More than any calibration has.
const READ_MAX_BYTES: u64 = 2 << 20;

/// What is kept, and where.
///
/// # Errors
///
/// If the file is there but cannot be read, or is no calibration.
pub(crate) fn read() -> anyhow::Result<Option<(Calibration, PathBuf)>> {
    let Some(path) = state::calibration()? else {
        return Ok(None);
    };
    let mut text = Vec::new();
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file,
    };
    file.and_then(|file| file.take(READ_MAX_BYTES).read_to_end(&mut text))
        .with_context(|| format!("cannot read {}", quoted(&path)))?;
    let calibration = Calibration::parse(&text)
        .with_context(|| format!("cannot use {}", quoted(&path)))
        .map_err(|error| {
            hint(
                error,
                "`coldpress calibrate` measures again and replaces it",
            )
        })?;
    Ok(Some((calibration, path)))
}

/// Where a calibration is to be kept, in a directory that is made if it is missing; `None` if none
/// is wanted.
///
/// # Errors
///
/// If there is no such directory.
pub(crate) fn place() -> anyhow::Result<Option<PathBuf>> {
    let path = state::calibration()?;
    if let Some(directory) = path.as_deref().and_then(Path::parent) {
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory);
        made.with_context(|| format!("cannot create {}", quoted(directory)))?;
    }
    Ok(path)
}

/// Puts a calibration in the place of an older one.
///
/// # Errors
///
/// If the file cannot be written; what stood there before still does.
pub(crate) fn write(calibration: &Calibration, path: &Path) -> anyhow::Result<()> {
    steps::write_small(Output::create(path)?, calibration.write()?.as_bytes())
}
