//! A start beside an image that is there.

use std::sync::Arc;

use coldpress_cost::{AccessSequence, Geometry};
use coldpress_explain::note_executables;
use coldpress_report::text::{plural, some_of};
use coldpress_session::ui::Ui;

use crate::image_file::Opened;

pub(crate) use coldpress_calibration::{Start, code};

/// What lies where in an image, and which pages of what a start maps are code.
///
/// # Errors
///
/// If the image is damaged, or the user interrupts.
pub(crate) fn geometry(
    opened: &Opened,
    sequence: &AccessSequence,
    ui: &Ui,
) -> anyhow::Result<Geometry> {
    let bytes = Box::new(Arc::clone(&opened.bytes));
    let poll = &mut || ui.interrupt.poll();
    let mut geometry = coldpress_explain::geometry(&opened.image, bytes, poll)?;
    note_executables(&mut geometry, &opened.image, sequence);
    Ok(geometry)
}

/// Warns of paths that a start asks an image for in vain.
pub(crate) fn warn_of_missing(missing: &[Vec<u8>], ui: &Ui) {
    if missing.is_empty() {
        return;
    }
    ui.warn(&format!(
        "the start asks for {} that the image does not have: {}",
        plural(missing.len() as u64, "path", "paths"),
        some_of(missing.iter().map(Vec::as_slice))
    ));
}
