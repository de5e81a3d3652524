//! Making an image again.

use std::ffi::OsString;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use coldpress_dialects::remake;
use coldpress_host::{memory, threads};
use coldpress_image::{ExtractOptions, Image, ReadLimits, TarOptions, write_tar};
use coldpress_layout::{Plan, Tails};
use coldpress_report::failure::without_os_number;
use coldpress_report::text::{plural, printable, quoted};
use coldpress_session::external_tool;
use coldpress_session::ui::Ui;
use coldpress_writer::{Identity, Input, Progress, SourceOptions};

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
    let threads = threads(None);
    let options = identity.options(image, is_padded, threads, memory::default_bytes());
    let source_options = SourceOptions {
        threads,
        ..SourceOptions::default()
    };
    let mut source =
        coldpress_writer::gather(&[input], &source_options, &mut |_| ui.interrupt.poll())?;
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
    coldpress_writer::write(&source, &order, &file, &options, &mut |progress| {
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
        threads: threads(None),
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
        let first = without_os_number(&first.to_string());
        format!("{things} of it could not be extracted, as root could: {first}")
    }))
}

/// Writes an image as a tar archive; returns what that has no room for, in a sentence.
pub(super) fn archived(image: &Image, archive: &Path, ui: &Ui) -> anyhow::Result<Option<String>> {
    let file = File::create_new(archive);
    let mut file = file.with_context(|| format!("cannot create {}", quoted(archive)))?;
    let options = TarOptions {
        paths: Vec::new(),
        keep_as_directory: false,
        root_becomes: None,
        xattrs: true,
        hard_links: true,
        sparse: true,
        limits: ReadLimits {
            threads: threads(None),
            memory_bytes: memory::default_bytes(),
        },
    };
    let mut lost = 0;
    let step = ui.step("archiving", 0);
    write_tar(
        image,
        &options,
        &mut BufWriter::new(&mut file),
        &mut |_| lost += 1,
        &mut |_| ui.interrupt.poll(),
    )?;
    step.finish("");
    Ok((lost > 0).then(|| {
        let things = plural(lost, "thing", "things");
        format!("{things} of it (sockets, xattrs with `=` in their names) cannot be in an archive")
    }))
}

/// Runs mksquashfs.
pub(super) fn by_mksquashfs(
    directory: &Path,
    output: &Path,
    options: &[String],
    ui: &Ui,
) -> anyhow::Result<()> {
    let mut args: Vec<OsString> = vec!["mksquashfs".into(), directory.into(), output.into()];
    args.extend(options.iter().map(OsString::from));
    args.extend(["-no-progress", "-quiet"].map(OsString::from));
    run("mksquashfs", args, ui)
}

/// Runs tar2sqfs.
pub(super) fn by_tar2sqfs(
    archive: &Path,
    output: &Path,
    options: &[String],
    ui: &Ui,
) -> anyhow::Result<()> {
    // It reads nothing but standard input.
    let mut args: Vec<OsString> = ["sh", "-c", "exec tar2sqfs \"$@\" < \"$0\""]
        .map(OsString::from)
        .to_vec();
    args.push(archive.into());
    args.extend(options.iter().map(OsString::from));
    args.extend(["-q".into(), output.into()]);
    run("tar2sqfs", args, ui)
}

/// Runs a program that makes an image, without a time in its environment: mksquashfs refuses that
/// beside one among its options.
fn run(name: &'static str, args: Vec<OsString>, ui: &Ui) -> anyhow::Result<()> {
    let mut line: Vec<OsString> = ["env", "-u", "SOURCE_DATE_EPOCH"]
        .map(OsString::from)
        .to_vec();
    line.extend(args);
    let step = ui.step(name, 0);
    let outcome = external_tool::run(line, ui)?;
    step.finish("");
    if outcome.status.success() {
        return Ok(());
    }
    let said = printable(outcome.stderr_tail.trim_ascii());
    Err(anyhow!("{name} failed: {said}"))
}
