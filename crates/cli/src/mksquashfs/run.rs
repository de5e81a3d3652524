//! From a request to an image: the steps of `coldpress build`, with the words of mksquashfs.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write as _};
use std::time::SystemTime;

use anyhow::{Context as _, anyhow, bail};
use coldpress_build::{Options, Output, Source, Warning};
use coldpress_layout::Tails;

use super::contradictions::{self, SettledTimes};
use super::report;
use super::request::{Info, Request, Time};
use super::settle::{self, Settled};
use super::sort;
use crate::failure::hint;
use crate::squashfs_tools::{Pace, Tool, print};
use crate::steps;
use crate::text::quoted;
use crate::timing::{Deed, kept};
use crate::ui::Ui;

/// Writes the image that is asked for.
///
/// * `epoch_s`: `SOURCE_DATE_EPOCH`, if it is set.
///
/// # Errors
///
/// If a part of the request contradicts another, cannot be used, or the image cannot be written.
pub(crate) fn run(request: &Request, epoch_s: Option<u32>, ui: &Ui) -> anyhow::Result<()> {
    let deed = Deed::of_making(request.tool, &request.destination);
    kept(deed, ui, || build(request, epoch_s, ui))
}

fn build(request: &Request, epoch_s: Option<u32>, ui: &Ui) -> anyhow::Result<()> {
    contradictions::check(request)?;
    let times = SettledTimes::new(&request.times, epoch_s)?;
    check_destination(request)?;
    let now_s = now_s()?;
    let settled = settle::settle(request, times, now_s, ui)?;
    let mut info = info(request)?;
    let _hold = ui.interrupt.hold();
    let output = Output::create(&request.destination)?;
    if !request.talk.quiet {
        print(ui, &report::beginning(request))?;
    }
    let source = gather(request, &settled, ui)?;
    if let Some(info) = &mut info {
        report::stored(&source, info).context("cannot tell what is stored")?;
        info.flush().context("cannot tell what is stored")?;
    }
    let options = Options {
        modification_time_s: image_time_s(times, &source, now_s),
        ..settled.options
    };
    let summary = write(request, &settled, &source, &output, &options, ui)?;
    steps::commit(output, ui)?;
    if !request.talk.quiet {
        print(ui, &report::summary(request, &options, &source, &summary))?;
    }
    Ok(())
}

/// Refuses an image that is there, unless it may be replaced.
fn check_destination(request: &Request) -> anyhow::Result<()> {
    let destination = &request.destination;
    if request.replace || destination.symlink_metadata().is_err() {
        return Ok(());
    }
    let option = if request.tool == Tool::Sqfstar {
        "-force"
    } else {
        "-noappend"
    };
    let error = anyhow!(
        "{} exists, and images are not appended to",
        quoted(destination)
    );
    Err(hint(error, format!("add {option} to replace it")))
}

/// Where the names of what is stored go; `None` if nowhere.
fn info(request: &Request) -> anyhow::Result<Option<Box<dyn io::Write>>> {
    Ok(match &request.talk.info {
        Info::Nowhere => None,
        Info::Stdout => Some(Box::new(BufWriter::new(io::stdout()))),
        Info::File(path) => {
            let mut options = OpenOptions::new();
            let file = options.write(true).create_new(true).open(path);
            let file = file.with_context(|| format!("cannot create {}", quoted(path)))?;
            Some(Box::new(BufWriter::new(file)))
        }
    })
}

fn gather(request: &Request, settled: &Settled, ui: &Ui) -> anyhow::Result<Source> {
    let step = ui.step("scanning", 0).about("names, metadata and sizes");
    let mut source =
        coldpress_build::gather(&settled.inputs, &settled.source_options, &mut |_| {
            ui.interrupt.poll()
        })?;
    step.finish("");
    source.watch = Some(ui.timing.clone());
    if request.duplicates {
        let options = &settled.options;
        let tails = (options.tails == Tails::All).then_some(options.block_size);
        let rest = request.work.rest_percent;
        let mut pace = Pace::new("comparing", false, rest, ui);
        source.find_duplicates(tails, settled.options.threads, &mut |progress| {
            pace.advance(progress)
        })?;
        pace.finish();
    }
    warn(request, source.warnings.iter(), ui)?;
    Ok(source)
}

fn write(
    request: &Request,
    settled: &Settled,
    source: &Source,
    output: &Output,
    options: &Options,
    ui: &Ui,
) -> anyhow::Result<coldpress_build::Summary> {
    let plan = sort::plan(request, settled, source)?;
    let block_size = options.block_size;
    let (order, _) = coldpress_layout::order(&source.tree, &plan, block_size, options.tails);
    let (percentage, rest) = (request.talk.percentage, request.work.rest_percent);
    let mut pace = Pace::new("compressing", percentage, rest, ui);
    let summary = coldpress_build::write(source, &order, output.file(), options, &mut |progress| {
        pace.advance(progress)
    })
    .with_context(|| format!("cannot build {}", quoted(output.path())))?;
    pace.finish();
    warn(request, summary.changed.values(), ui)?;
    Ok(summary)
}

/// Prints warnings; the first one is an error if that is asked for.
fn warn<'a>(
    request: &Request,
    warnings: impl Iterator<Item = &'a Warning>,
    ui: &Ui,
) -> anyhow::Result<()> {
    for warning in warnings {
        if request.talk.exit_on_error {
            bail!("{warning}");
        }
        ui.warn(&warning.to_string());
    }
    Ok(())
}

fn image_time_s(times: SettledTimes, source: &Source, now_s: u32) -> u32 {
    match times.image {
        Some(Time::At(asked_s)) => asked_s,
        Some(Time::Newest) => {
            let found = source.tree.nodes.iter().map(|node| node.mtime_s);
            found.max().unwrap_or(0)
        }
        None => now_s,
    }
}

fn now_s() -> anyhow::Result<u32> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now_s = now.context("the clock stands before 1970")?.as_secs();
    u32::try_from(now_s).context("the clock stands behind 2106")
}
