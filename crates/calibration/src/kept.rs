//! What `coldpress calibrate` keeps for predictions.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;

use anyhow::Context as _;
use coldpress_host::Calibration;
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::state;

/// By which name the medium is kept that was measured as it is.
pub const MEDIUM: &str = "calibrated";

/// More than any calibration has.
const READ_MAX_BYTES: u64 = 2 << 20;

/// What is kept, and where.
///
/// # Errors
///
/// If the file is there but cannot be read, or is no calibration.
pub fn read() -> anyhow::Result<Option<(Calibration, PathBuf)>> {
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
