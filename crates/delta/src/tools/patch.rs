//! Programs that write a patch.

use std::ffi::OsString;
use std::path::Path;

use super::{run, size_bytes};
use crate::error::Error;
use crate::transfer::Transfer;
use crate::updater::Pair;

/// The buffer for the old file that xdelta3 has without being asked, and the largest it takes.
const XDELTA3_SOURCE_BYTES: (u64, u64) = (64 << 20, 1 << 31);

pub(crate) fn xdelta3(pair: Pair<'_>, stop: &mut dyn FnMut() -> bool) -> Result<Transfer, Error> {
    let patch = pair.scratch.join("xdelta3");
    // What lies farther than the buffer from where it was is not found again.
    let (min, max) = XDELTA3_SOURCE_BYTES;
    let source_bytes = size_bytes(pair.old, "the old file")?;
    let source_bytes = source_bytes.checked_next_power_of_two().unwrap_or(max);
    let mut args: Vec<OsString> = ["xdelta3", "-e", "-9", "-f", "-B"].map(Into::into).into();
    args.push(source_bytes.clamp(min, max).to_string().into());
    args.push("-s".into());
    args.extend([pair.old, pair.new, &patch].map(Into::into));
    run("xdelta3", args, stop)?;
    patch_of(&patch)
}

pub(crate) fn bsdiff(pair: Pair<'_>, stop: &mut dyn FnMut() -> bool) -> Result<Transfer, Error> {
    let patch = pair.scratch.join("bsdiff");
    let mut args: Vec<OsString> = vec!["bsdiff".into()];
    args.extend([pair.old, pair.new, &patch].map(Into::into));
    run("bsdiff", args, stop)?;
    patch_of(&patch)
}

/// A patch as what is transferred.
pub(crate) fn patch_of(path: &Path) -> Result<Transfer, Error> {
    Ok(Transfer {
        patch_bytes: size_bytes(path, "the patch")?,
        ..Transfer::default()
    })
}
