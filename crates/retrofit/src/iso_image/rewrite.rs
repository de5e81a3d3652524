//! A new file system around an image that is too long for its place, by xorriso.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;

use coldpress_host::run_program;
use coldpress_image::ReadAt as _;
use coldpress_iso::Naming;

use super::IsoImage;
use crate::container::copy;
use crate::error::Error;
use crate::site::Site;

/// Makes file systems of live media; of the package of that name.
pub(crate) const XORRISO: &str = "xorriso";
/// What it may take for a full disc of two layers at a slow disk's speed.
const TIMEOUT_S: u64 = 3600;

/// Replaces a file that has the new image, at the place of the old one, by a file system with it.
///
/// # Errors
///
/// [`Error::Xorriso`], or if a file cannot be written.
pub(super) fn rewrite(
    it: &IsoImage,
    new: &File,
    image_bytes: u64,
    site: &mut Site<'_>,
) -> Result<(), Error> {
    let failed = |source| Error::Write { start: 0, source };
    let (image, rewritten) = (site.directory.join("image"), site.directory.join("iso"));
    let file = File::create_new(&image).map_err(failed)?;
    let start = it.place.start;
    copy(new, start..start + image_bytes, &file, 0)?;
    drop(file);
    let mut args: Vec<OsString> = [XORRISO, "-no_rc", "-report_about", "SORRY", "-indev"]
        .map(OsString::from)
        .to_vec();
    args.extend([site.old.into(), "-outdev".into(), rewritten.clone().into()]);
    args.extend(["-boot_image", "any", "replay"].map(OsString::from));
    let has = |naming| it.iso.trees.iter().any(|it| it.volume.naming == naming);
    for (option, naming) in [
        ("-joliet", Naming::Joliet),
        ("-rockridge", Naming::RockRidge),
    ] {
        let switch = if has(naming) { "on" } else { "off" };
        args.extend([option.into(), switch.into()]);
    }
    let path = [b"/", it.path.as_slice()].concat();
    let path = OsStr::from_bytes(&path);
    args.extend(["-map".into(), image.clone().into(), path.into()]);
    for (option, value) in [("-chown", "0"), ("-chgrp", "0"), ("-chmod", "0444")] {
        args.extend([option.into(), value.into(), path.into(), "--".into()]);
    }
    let volume = it.iso.trees.first().map(|tree| &tree.volume.modified);
    let modified = volume.map(|it| String::from_utf8_lossy(it).into_owned());
    let digits = modified.filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
    // Boot loaders look for file systems with this date.
    if let Some(date) = digits.filter(|it| !it.starts_with("0000")) {
        args.extend(["-volume_date".into(), "uuid".into(), date.clone().into()]);
        for which in ["b-c", "c"] {
            args.extend(["-alter_date", which, &date].map(OsString::from));
            args.extend([path.into(), "--".into()]);
        }
    }
    let outcome = match run_program(args, TIMEOUT_S, site.stop) {
        Err(coldpress_host::Error::CannotRun { .. }) => return Err(Error::NoXorriso),
        launched => launched?,
    };
    if !outcome.status.success() {
        let said = String::from_utf8_lossy(&outcome.stderr_tail).into_owned();
        return Err(Error::Xorriso { said });
    }
    let made = File::open(&rewritten).map_err(failed)?;
    new.set_len(0).map_err(failed)?;
    let size_bytes = made.size_bytes().map_err(failed)?;
    copy(&made, 0..size_bytes, new, 0)?;
    let remove = |path| fs::remove_file(path);
    remove(rewritten)
        .and_then(|()| remove(image))
        .map_err(|source: io::Error| failed(source))
}
