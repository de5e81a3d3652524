//! The steps that every verb that writes an image goes through.

mod dedup;
mod hash_tree;
mod inputs;
mod stable;
mod start_pack;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_image::{Image, Offset};
use coldpress_layout::{Keeping, Order, Plan};
use coldpress_report::failure::hint;
use coldpress_report::text::{NAMED_MAX, plural, quoted, some_of};
use coldpress_report::units;
use coldpress_session::ui::{Step, Ui};
use coldpress_writer::{
    Error as BuildError, Input, Options, Output, Progress, Reuse, Source, Summary, Warning,
};

use crate::image_file;
use crate::pseudo_files;
use crate::resolve::ImageSettings;

pub(crate) use dedup::{compare, find_duplicates, sketch};
pub(crate) use hash_tree::{hashing, print_tree, protect, tree_files};
pub(crate) use inputs::{parse_profile, read_plan, read_profile, scan, scan_image};
pub(crate) use stable::order_stable;
pub(crate) use start_pack::{add_start_pack, start_pack_line};

/// How many warnings are printed before the rest is only counted.
const WARNINGS_MAX: usize = 10;

/// Puts the inputs together, finds duplicates, and warns of what cannot be stored;
/// `Source::warnings` counts it.
///
/// # Errors
///
/// If an input cannot be read.
pub(crate) fn gather(
    inputs: &[Input],
    settings: &ImageSettings,
    ui: &Ui,
) -> anyhow::Result<Source> {
    let mut source = put_together(inputs, settings, ui)?;
    find_duplicates(&mut source, settings, ui)?;
    Ok(source)
}

/// The first half of [`gather`]: what there is.
///
/// # Errors
///
/// If an input cannot be read.
pub(crate) fn put_together(
    inputs: &[Input],
    settings: &ImageSettings,
    ui: &Ui,
) -> anyhow::Result<Source> {
    let step = ui.step("scanning", 0).about("names, metadata and sizes");
    let mut source = coldpress_writer::gather(inputs, &settings.source_options(), &mut |_| {
        ui.interrupt.poll()
    })
    .map_err(|error| {
        // What the interruption ended may say so in its own way: a command fails.
        let is_interrupted = ui.interrupt.poll().is_break();
        pseudo_files::explain(if is_interrupted {
            BuildError::Interrupted
        } else {
            error
        })
    })?;
    step.finish("");
    source.watch = Some(ui.timing.clone());
    Ok(source)
}

/// Prints the first notes and the first warnings, and how many more there are of each.
fn warn<'a>(warnings: impl Iterator<Item = &'a Warning>, ui: &Ui) {
    let (notes, losses): (Vec<_>, Vec<_>) = warnings.partition(|warning| warning.is_note());
    some(&notes, &|text| ui.note(text));
    some(&losses, &|text| ui.warn(text));
}

fn some(warnings: &[&Warning], tell: &dyn Fn(&str)) {
    for warning in warnings.iter().take(WARNINGS_MAX) {
        tell(&warning.to_string());
    }
    let more = warnings.len().saturating_sub(WARNINGS_MAX);
    if more > 0 {
        tell(&format!("and {more} more of this kind"));
    }
}

/// Lets unchanged blocks be copied from an older image; tells if they cannot.
///
/// # Errors
///
/// If the older image is damaged.
pub(crate) fn reuse(
    source: &mut Source,
    old: &Path,
    options: &Options,
    ui: &Ui,
) -> anyhow::Result<()> {
    let quoted = quoted(old);
    let not_reused = |why: &dyn std::fmt::Display| {
        ui.warn(&format!("nothing of {quoted} is reused: {why}"));
    };
    if !old.exists() {
        not_reused(&"there is no such file");
        return Ok(());
    }
    match Reuse::new(image_file::open_anywhere(old)?, source, options) {
        Ok(reuse) => source.reuse = Some(reuse),
        Err(BuildError::NotReusable(why)) => not_reused(&why),
        Err(error) => return Err(anyhow!(error).context(format!("cannot reuse {quoted}"))),
    }
    Ok(())
}

/// Completes a plan to an order, and warns if the plan names what is not there.
pub(crate) fn order(source: &Source, plan: &Plan, settings: &ImageSettings, ui: &Ui) -> Order {
    order_of(source, plan, settings, None, ui)
}

/// The same, with what is kept of an older image.
fn order_of(
    source: &Source,
    plan: &Plan,
    settings: &ImageSettings,
    keeping: Option<Keeping<'_>>,
    ui: &Ui,
) -> Order {
    let order = || {
        let ImageSettings {
            block_size,
            tails,
            group,
            ..
        } = *settings;
        let grouping = group.with(&source.sketches);
        coldpress_layout::order_keeping(&source.tree, plan, block_size, tails, grouping, keeping)
    };
    let (order, unmatched) = ui.timed("ordering", "Decide what goes where", order);
    warn_of_unmatched(&unmatched, ui);
    order
}

/// Warns of paths that a plan names in vain.
pub(crate) fn warn_of_unmatched(unmatched: &[Vec<u8>], ui: &Ui) {
    let unmatched: BTreeSet<&[u8]> = unmatched.iter().map(Vec::as_slice).collect();
    if !unmatched.is_empty() {
        ui.warn(&format!(
            "the plan names {} that the source does not have: {}",
            plural(unmatched.len() as u64, "path", "paths"),
            some_of(unmatched.iter().copied())
        ));
    }
}

/// Writes an image into `output`, with a progress bar.
///
/// # Errors
///
/// If the source cannot be read, the image not written, or the user interrupts.
pub(crate) fn write(
    label: &'static str,
    source: &Source,
    order: &Order,
    output: &Output,
    options: &Options,
    ui: &Ui,
) -> anyhow::Result<Summary> {
    let bytes = units::bytes(source.content_bytes());
    let inodes = plural(source.tree.nodes.len() as u64, "inode", "inodes");
    let about = format!("{bytes} of content, {inodes}");
    let mut step = ui.step(label, source.content_bytes()).about(&about);
    let summary = coldpress_writer::write(source, order, output.file(), options, &mut |progress| {
        advance(&mut step, progress, ui)
    })
    .with_context(|| format!("cannot build {}", quoted(output.path())))?;
    step.finish("");
    warn(summary.changed.values(), ui);
    Ok(summary)
}

/// Writes a small file and puts it in place.
///
/// # Errors
///
/// If it cannot be written; what stood there before still does.
pub(crate) fn write_small(output: Output, bytes: &[u8]) -> anyhow::Result<()> {
    output
        .file()
        .write_all(bytes)
        .with_context(|| format!("cannot write {}", quoted(output.path())))?;
    Ok(output.commit()?)
}

/// Puts an image in its place.
///
/// # Errors
///
/// If the disk or the directory refuses it.
pub(crate) fn commit(output: Output, ui: &Ui) -> anyhow::Result<()> {
    Ok(ui.task("commit", "Put the image in place", || output.commit())?)
}

/// Reads a written image back and compares it with its source.
///
/// # Errors
///
/// If it differs; the sentence names the first differences. The image is then not to be kept.
pub(crate) fn verify(
    output: &Output,
    source: &Source,
    summary: &Summary,
    offset_bytes: u64,
    ui: &Ui,
) -> anyhow::Result<()> {
    let mut step = ui
        .step("verifying", source.content_bytes())
        .about("the image against its source");
    let file = output
        .file()
        .try_clone()
        .context("cannot reopen the image")?;
    let whole = Offset {
        inner: file,
        start: offset_bytes,
    };
    let image = Image::new(Box::new(whole)).context("cannot read the image back")?;
    let differences =
        coldpress_writer::verify(&image, source, &summary.changed, &mut |progress| {
            advance(&mut step, progress, ui)
        })?;
    step.finish("");
    if differences.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = differences
        .iter()
        .take(NAMED_MAX)
        .map(ToString::to_string)
        .collect();
    let count = plural(differences.len() as u64, "place", "places");
    let error = anyhow!(
        "the image differs from its source in {count}: {}",
        named.join(", ")
    );
    Err(hint(
        error,
        "the source may have changed while it was read; the image was not kept",
    ))
}

/// Shows progress; breaks if the user interrupts.
pub(crate) fn advance(step: &mut Step, progress: Progress, ui: &Ui) -> ControlFlow<()> {
    step.set_total(progress.total_bytes);
    step.set(progress.done_bytes);
    ui.interrupt.poll()
}
