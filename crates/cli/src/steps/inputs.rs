//! What verbs read before they do anything.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use coldpress_host::threads;
use coldpress_layout::Plan;
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;
use coldpress_trace::{Profile, Trace};
use coldpress_writer::{Input, Source, SourceOptions};

use crate::containers;
use crate::flags::container::ContainerArgs;

/// Reads a plan.
///
/// # Errors
///
/// If the file cannot be read, or the line that breaks a rule.
pub(crate) fn read_plan(path: &Path) -> anyhow::Result<Plan> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
    Plan::parse(&bytes).with_context(|| format!("cannot use {}", quoted(path)))
}

/// Reads a profile. A trace is one, of one recording.
///
/// # Errors
///
/// If the file cannot be read, or the line that breaks a rule.
pub(crate) fn read_profile(path: &Path) -> anyhow::Result<Profile> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
    parse_profile(&bytes).with_context(|| format!("cannot use {}", quoted(path)))
}

/// The profile in these bytes, or that of the one recording.
///
/// # Errors
///
/// The line that breaks a rule.
pub(crate) fn parse_profile(bytes: &[u8]) -> anyhow::Result<Profile> {
    Ok(if bytes.starts_with(b"coldpress-trace ") {
        Profile::from(&Trace::parse(bytes)?)
    } else {
        Profile::parse(bytes)?
    })
}

/// Scans a directory, an image or a container image for what it holds, but for extended attributes.
///
/// # Errors
///
/// If it cannot be read.
pub(crate) fn scan(path: &Path, ui: &Ui) -> anyhow::Result<(Vec<Input>, Source)> {
    if !containers::is_container(path) {
        path.metadata()
            .with_context(|| format!("cannot read {}", quoted(path)))?;
    }
    let inputs = containers::inputs(path, &ContainerArgs::default(), ui)?;
    let source = scan_inputs(&inputs, path, ui)?;
    Ok((inputs, source))
}

/// Scans an image likewise.
///
/// * `start_byte`: where it begins in its file.
///
/// # Errors
///
/// If it cannot be read.
pub(crate) fn scan_image(path: &Path, start_byte: u64, ui: &Ui) -> anyhow::Result<Source> {
    let image = Input::Image {
        path: path.to_path_buf(),
        offset_bytes: start_byte,
        is_copied: false,
    };
    scan_inputs(&[image], path, ui)
}

fn scan_inputs(inputs: &[Input], path: &Path, ui: &Ui) -> anyhow::Result<Source> {
    let options = SourceOptions {
        xattrs: false,
        threads: threads(None),
        ..SourceOptions::default()
    };
    let step = ui.step("scanning", 0);
    let poll = &mut |_| ui.interrupt.poll();
    let source = coldpress_writer::gather(inputs, &options, poll)
        .with_context(|| format!("cannot read {}", quoted(path)))?;
    step.finish("");
    Ok(source)
}
