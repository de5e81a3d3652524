//! Where `coldpress calibrate` keeps what it measured.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use coldpress_host::Calibration;
use coldpress_report::text::quoted;
use coldpress_session::state;
use coldpress_writer::Output;

use crate::steps;

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
