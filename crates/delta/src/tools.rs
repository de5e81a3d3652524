//! How each updater is asked.

pub(crate) mod casync;
pub(crate) mod hdiffpatch;
pub(crate) mod patch;
pub(crate) mod rauc;
pub(crate) mod zsync;

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;

use coldpress_host::{Outcome, run_program};

use crate::error::Error;
use crate::updater::said;

/// Runs a program to its end, which must be a good one.
pub(crate) fn run(
    program: &'static str,
    args: Vec<OsString>,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Outcome, Error> {
    let outcome = run_program(args, 0, stop)?;
    if stop() {
        return Err(Error::Interrupted);
    }
    if !outcome.status.success() {
        let said = said(&outcome);
        return Err(Error::Failed { program, said });
    }
    Ok(outcome)
}

/// The length of a file that a program made.
pub(crate) fn size_bytes(path: &Path, what: &'static str) -> Result<u64, Error> {
    let metadata = fs::metadata(path).map_err(Error::file(what))?;
    Ok(metadata.len())
}

/// Opens a file that is compared.
pub(crate) fn open(path: &Path, what: &'static str) -> Result<File, Error> {
    coldpress_image::open_file(path).map_err(Error::file(what))
}
