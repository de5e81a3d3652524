//! What of a source is the same, and what is similar.

use coldpress_layout::{Group, Tails};
use coldpress_session::ui::Ui;
use coldpress_writer::Source;

use super::{advance, warn};
use crate::resolve::ImageSettings;

/// The second half of [`gather`](super::gather): what of it is the same, and what cannot be stored.
///
/// # Errors
///
/// If the user interrupts.
pub(crate) fn find_duplicates(
    source: &mut Source,
    settings: &ImageSettings,
    ui: &Ui,
) -> anyhow::Result<()> {
    compare(source, settings, ui)?;
    sketch(source, settings, ui)?;
    warn(source.warnings.iter(), ui);
    Ok(())
}

/// Finds files with the same content, and tail ends if all of them are packed.
///
/// # Errors
///
/// If the user interrupts.
pub(crate) fn compare(
    source: &mut Source,
    settings: &ImageSettings,
    ui: &Ui,
) -> anyhow::Result<()> {
    if settings.deduplicated {
        let tails = (settings.tails == Tails::All).then_some(settings.block_size);
        let mut step = ui.step("comparing", 0).about("files of equal length");
        source.find_duplicates(tails, settings.threads, &mut |progress| {
            advance(&mut step, progress, ui)
        })?;
        step.finish("");
    }
    Ok(())
}

/// Looks into tail ends, if they are grouped by what they hold.
///
/// # Errors
///
/// If the user interrupts.
pub(crate) fn sketch(source: &mut Source, settings: &ImageSettings, ui: &Ui) -> anyhow::Result<()> {
    if settings.group == Group::Similar {
        let mut step = ui.step("sketching", 0).about("tail ends");
        let ImageSettings {
            block_size,
            tails,
            threads,
            ..
        } = *settings;
        source.sketches = source.sketch_tails(block_size, tails, threads, &mut |progress| {
            advance(&mut step, progress, ui)
        })?;
        step.finish("");
    }
    Ok(())
}
