//! What a site has decided for all images of a tool.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context as _;
use coldpress_container::{ENROOT_SQUASH_OPTIONS, enroot_squash_options};
use coldpress_dialects::mksquashfs::{ImageOptions, image_options};
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped, escaped_path};
use coldpress_session::ui::Ui;

use crate::flags::container::TargetName;
use crate::verbs::build::args::BuildArgs;

/// Where enroot's configuration lies, unless `ENROOT_SYSCONF_PATH` says.
const SYSTEM: &str = "/etc/enroot";

/// The options of mksquashfs that hold for an image of enroot; `None` if there are none, or the
/// command line says itself how the image is compressed.
///
/// # Errors
///
/// If they cannot be read or obeyed.
pub(super) fn options(args: &BuildArgs, ui: &Ui) -> anyhow::Result<Option<ImageOptions>> {
    let image = &args.image_options;
    let is_asked = image.compressor.is_some()
        || image.level.is_some()
        || image.block_size.is_some()
        || !image.store.is_empty();
    if is_asked || args.target != Some(TargetName::Enroot) {
        return Ok(None);
    }
    let Some((origin, text)) = enroot_options()? else {
        return Ok(None);
    };
    let words: Vec<OsString> = text.split_whitespace().map(Into::into).collect();
    let read = image_options(&words)
        .with_context(|| format!("cannot obey {ENROOT_SQUASH_OPTIONS} of {origin}"))
        .map_err(|error| hint(error, "-c, -l, -b or --store take its place"))?;
    let options = escaped(text.as_bytes());
    ui.say(&format!("options of mksquashfs from {origin}: {options}"));
    Ok(Some(read))
}

/// The options, and where they were found.
///
/// # Errors
///
/// If the configuration cannot be read.
pub(crate) fn enroot_options() -> anyhow::Result<Option<(String, String)>> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    if let Some(options) = set(ENROOT_SQUASH_OPTIONS) {
        let options = options.to_string_lossy().into_owned();
        return Ok(Some(("the environment".to_owned(), options)));
    }
    let directory = set("ENROOT_SYSCONF_PATH").map_or_else(|| PathBuf::from(SYSTEM), PathBuf::from);
    let found = enroot_squash_options(&directory).map_err(|error| {
        let how = format!("set {ENROOT_SQUASH_OPTIONS} in the environment to what is meant");
        hint(error, how)
    })?;
    Ok(found.map(|(file, options)| (escaped_path(&file), options)))
}
