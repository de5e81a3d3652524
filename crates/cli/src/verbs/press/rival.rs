//! The same settings given to mksquashfs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::anyhow;
use coldpress_host::{LoopDevice, Mount};
use coldpress_layout::Tails;
use coldpress_report::failure::hint;
use coldpress_report::text::printable;
use coldpress_report::units;
use coldpress_session::external_tool;
use coldpress_tune::mksquashfs_words;

use super::Press;
use super::prove::RIVAL_IMAGE;
use crate::containers;
use crate::resolve::ImageSettings;

const PROGRAM: &str = "mksquashfs";
/// What to know when a proof fails.
pub(super) const PROOF_IS_MISSING: &str =
    "the pressed image is in place; only the proof is missing";

/// An image of mksquashfs.
pub(super) struct Rival {
    pub(super) image: PathBuf,
    /// Version, options, build time.
    pub(super) note: String,
}

/// Builds mksquashfs's image of the same source; or tells why there is none.
pub(super) fn build(press: &Press) -> anyhow::Result<Result<Rival, &'static str>> {
    if !external_tool::is_installed(PROGRAM) {
        return Ok(Err("not installed, so not compared"));
    }
    let image = press.work_dir.file(RIVAL_IMAGE);
    let options = options(&press.request.settings);
    let mut args: Vec<OsString> = vec![PROGRAM.into()];
    // Held until the image is built.
    let mounted = mount_if_needed(press)?;
    let source = match &mounted {
        Some(_) => press.work_dir.mount_point(),
        // Absolute, and what a link leads to: it would store the link, and take `-x` for an option.
        None => press.request.args.source.canonicalize()?,
    };
    args.extend([source.into(), image.clone().into_os_string()]);
    args.extend(options.iter().map(OsString::from));
    args.extend(["-noappend", "-no-progress", "-quiet"].map(OsString::from));
    let step = press
        .ui
        .step("mksquashfs", 0)
        .about("the image to compare with");
    let started = Instant::now();
    let outcome = external_tool::run(args, press.ui)?;
    step.finish("");
    if !outcome.status.success() {
        let said = printable(outcome.stderr_tail.trim_ascii());
        let error = anyhow!("mksquashfs, built for comparison, failed: {said}");
        return Err(hint(error, PROOF_IS_MISSING));
    }
    let time = units::seconds(started.elapsed().as_secs_f64());
    let note = format!(
        "{}, options {}, built in {time}",
        external_tool::version(PROGRAM, "-version", press.ui)?,
        options.join(" ")
    );
    Ok(Ok(Rival { image, note }))
}

/// Mounts the pressed image, whose tree mksquashfs stores where it cannot take the source itself:
/// a container image, or a directory of which something is left out.
fn mount_if_needed(press: &Press) -> anyhow::Result<Option<(Mount, LoopDevice)>> {
    let is_container = containers::is_container(&press.request.args.source);
    if !is_container && press.request.settings.selection.is_everything() {
        return Ok(None);
    }
    let loop_device = LoopDevice::attach(&press.request.args.output, false)?;
    let mount = Mount::squashfs(&loop_device, &press.work_dir.mount_point())?;
    Ok(Some((mount, loop_device)))
}

/// The settings in mksquashfs's words.
fn options(settings: &ImageSettings) -> Vec<String> {
    let mut options = vec!["-b".to_owned(), settings.block_size.bytes().to_string()];
    match &settings.compression {
        None => options.extend(["-noI", "-noId", "-noD", "-noF", "-noX"].map(str::to_owned)),
        Some(codec) => {
            options.extend(["-comp".to_owned(), codec.compressor.to_string()]);
            options.extend(mksquashfs_words(codec));
        }
    }
    match settings.tails {
        Tails::None => options.push("-no-fragments".to_owned()),
        Tails::Small => {}
        Tails::All => options.push("-always-use-fragments".to_owned()),
    }
    if !settings.xattrs {
        options.push("-no-xattrs".to_owned());
    }
    if !settings.exportable {
        options.push("-no-exports".to_owned());
    }
    options.extend(["-processors".to_owned(), settings.threads.to_string()]);
    options
}
