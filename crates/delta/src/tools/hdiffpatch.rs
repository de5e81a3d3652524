//! `HDiffPatch`: its program, or the Python module of that name.

use std::ffi::OsString;

use super::patch::patch_of;
use super::run;
use crate::error::Error;
use crate::transfer::Transfer;
use crate::updater::{Pair, Updater, is_installed};

/// Writes the patch between two files into a third.
const SCRIPT: &str = "\
import sys, hdiffpatch
old, new, patch = sys.argv[1:]
read = lambda path: open(path, 'rb').read()
made = hdiffpatch.diff(read(old), read(new), hdiffpatch.COMPRESSION_ZSTD, validate=False)
open(patch, 'wb').write(made)
";

pub(crate) fn demand() -> Result<(), Error> {
    let import: Vec<OsString> = ["python3", "-c", "import hdiffpatch"]
        .map(Into::into)
        .into();
    let has_module = || run("python3", import, &mut || false).is_ok();
    if is_installed("hdiffz") || is_installed("python3") && has_module() {
        return Ok(());
    }
    Err(Error::Missing {
        updater: Updater::Hdiffpatch,
        program: "hdiffz",
        package: "HDiffPatch, or the Python module hdiffpatch",
    })
}

pub(crate) fn measure(pair: Pair<'_>, stop: &mut dyn FnMut() -> bool) -> Result<Transfer, Error> {
    let patch = pair.scratch.join("hdiffpatch");
    let (program, words): (_, &[&str]) = if is_installed("hdiffz") {
        ("hdiffz", &["hdiffz", "-f", "-c-zstd", "-d"])
    } else {
        ("python3", &["python3", "-c", SCRIPT])
    };
    let mut args: Vec<OsString> = words.iter().map(Into::into).collect();
    args.extend([pair.old, pair.new, &patch].map(Into::into));
    run(program, args, stop)?;
    patch_of(&patch)
}
