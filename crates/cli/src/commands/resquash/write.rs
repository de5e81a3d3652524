//! Making an image again.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_bench::text::printable;
use coldpress_build::{Identity, Input, Progress, SourceOptions};
use coldpress_image::{ExtractOptions, Image};
use coldpress_layout::{Plan, Tails};

use crate::text::{plural, quoted};
use crate::ui::Ui;
use crate::{failure, memory, peer, remake, resolve};

/// Writes what an image holds as coldpress does without a plan, with every block compressed anew.
///
/// * `input`: the image, once more.
pub(super) fn again(
    input: Input,
    image: &Image,
    identity: &Identity,
    file_bytes: u64,
    output: &Path,
    ui: &Ui,
) -> anyhow::Result<()> {
    let is_padded = remake::is_padded(image.superblock(), file_bytes);
    let threads = resolve::threads(None);
    let options = identity.options(image, is_padded, threads, memory::default_bytes());
    let source_options = SourceOptions {
        threads,
        ..SourceOptions::default()
    };
    let mut source =
        coldpress_build::gather(&[input], &source_options, &mut |_| ui.interrupt.poll())?;
    if options.deduplicated {
        let tails = (options.tails == Tails::All).then_some(options.block_size);
        source.find_duplicates(tails, threads, &mut |_: Progress| ui.interrupt.poll())?;
    }
    let plan = Plan::default();
    let (order, _) =
        coldpress_layout::order(&source.tree, &plan, options.block_size, options.tails);
    let file = File::create_new(output);
    let file = file.with_context(|| format!("cannot create {}", quoted(output)))?;
    let mut step = ui.step("making it again", source.content_bytes());
    coldpress_build::write(&source, &order, &file, &options, &mut |progress| {
        step.set_total(progress.total_bytes);
        step.set(progress.done_bytes);
        ui.interrupt.poll()
    })?;
    step.finish("");
    Ok(())
}

/// Extracts an image; returns what was lost, in a sentence.
pub(super) fn extracted(
    image: &Image,
    directory: &Path,
    ui: &Ui,
) -> anyhow::Result<Option<String>> {
    let options = ExtractOptions {
        threads: resolve::threads(None),
        memory_bytes: memory::default_bytes(),
        ..ExtractOptions::default()
    };
    let step = ui.step("extracting", 0);
    let extracted =
        coldpress_image::extract(image, directory, &options, &mut |_| ui.interrupt.poll())?;
    step.finish("");
    let lost = &extracted.not_restored;
    Ok(lost.first().map(|first| {
        let things = plural(lost.len() as u64, "thing", "things");
        let first = failure::without_os_number(&first.to_string());
        format!("{things} of it could not be extracted, as root could: {first}")
    }))
}

/// Runs mksquashfs.
pub(super) fn by_mksquashfs(
    directory: &Path,
    output: &Path,
    options: &[String],
    ui: &Ui,
) -> anyhow::Result<()> {
    // It refuses a time in the environment beside one among its options.
    let mut args: Vec<OsString> = ["env", "-u", "SOURCE_DATE_EPOCH", "mksquashfs"]
        .map(OsString::from)
        .to_vec();
    args.extend([directory.into(), output.into()]);
    args.extend(options.iter().map(OsString::from));
    args.extend(["-no-progress", "-quiet"].map(OsString::from));
    let step = ui.step("mksquashfs", 0);
    let outcome = peer::run(args, ui)?;
    step.finish("");
    if outcome.status.success() {
        return Ok(());
    }
    let said = printable(outcome.stderr_tail.trim_ascii());
    Err(anyhow!("mksquashfs failed: {said}"))
}
