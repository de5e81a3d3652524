//! From a request to an image: the steps of `coldpress build`, with the words of mksquashfs.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::time::SystemTime;

use anyhow::{Context as _, bail};
use coldpress_dialects::mksquashfs::{self, Info, Request, Settled, SettledTimes};
use coldpress_format::BlockSize;
use coldpress_layout::{Kind, Tails};
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;
use coldpress_writer::{Options, Source, Warning};

use super::destination::{Destination, recover};
use crate::verbs::change_store::with_change;
use crate::verbs::operation;
use crate::verbs::pace::{Pace, Shown, print};

/// Writes the image that is asked for.
///
/// * `epoch_s`: `SOURCE_DATE_EPOCH`, if it is set.
///
/// # Errors
///
/// If a part of the request contradicts another, cannot be used, or the image cannot be written.
pub(crate) fn run(request: &mut Request, epoch_s: Option<u32>, ui: &Ui) -> anyhow::Result<()> {
    let operation = operation::of_making(request.tool, &request.destination);
    with_change(operation, ui, || build(request, epoch_s, ui))
}

fn build(request: &mut Request, epoch_s: Option<u32>, ui: &Ui) -> anyhow::Result<()> {
    mksquashfs::check(request)?;
    let times = SettledTimes::new(&request.times, epoch_s)?;
    if let Some(recovery) = &request.recover {
        return recover(request, recovery, ui);
    }
    let now_s = now_s()?;
    let appending = mksquashfs::open_old(request)?;
    let taken_names = mksquashfs::taken_names(request, appending.as_ref())?;
    let settled = mksquashfs::settle(request, times, now_s, taken_names, &|text| ui.warn(text))?;
    let mut info = info(request)?;
    let _hold = ui.interrupt.hold();
    let destination = Destination::new(request, appending)?;
    if !request.talk.quiet {
        let beginning = match destination.appending() {
            None => mksquashfs::beginning(request),
            Some(appending) => mksquashfs::appending_text(request, appending),
        };
        let processors = mksquashfs::processors(settled.options.threads);
        print(ui, &[processors, beginning].concat())?;
    }
    let source = gather(request, &settled, &destination, ui)?;
    if let Some(info) = &mut info {
        mksquashfs::stored(&source, info).context("cannot print what is stored")?;
        info.flush().context("cannot print what is stored")?;
    }
    let options = Options {
        modification_time_s: times.image_s(&source, now_s),
        ..settled.options
    };
    let summary = write(request, &settled, &source, &destination, &options, ui)?;
    destination.commit(ui)?;
    if !request.talk.quiet {
        print(
            ui,
            &mksquashfs::summary(request, &options, &source, &summary),
        )?;
    }
    Ok(())
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

fn gather(
    request: &Request,
    settled: &Settled,
    destination: &Destination,
    ui: &Ui,
) -> anyhow::Result<Source> {
    let step = ui.step("scanning", 0).about("names, metadata and sizes");
    let mut source =
        coldpress_writer::gather(&settled.inputs, &settled.source_options, &mut |_| {
            ui.interrupt.poll()
        })?;
    if let Some(appending) = destination.appending() {
        let root_becomes = request.root_becomes.as_ref().map(|name| name.as_bytes());
        source.append_to(appending, root_becomes, &mut |_| ui.interrupt.poll())?;
    }
    step.finish("");
    source.watch = Some(ui.timing.clone());
    if request.duplicates {
        let options = &settled.options;
        let tails = (options.tails == Tails::All).then_some(options.block_size);
        let rest = request.work.rest_percent;
        let mut pace = Pace::new("comparing", Shown::Nothing, rest, ui);
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
    destination: &Destination,
    options: &Options,
    ui: &Ui,
) -> anyhow::Result<coldpress_writer::Summary> {
    let plan = mksquashfs::plan(request, settled, source)?;
    let block_size = options.block_size;
    let (order, _) = coldpress_layout::order(&source.tree, &plan, block_size, options.tails);
    let rest = request.work.rest_percent;
    let mut pace = Pace::new("compressing", shown(request, source, block_size), rest, ui);
    let summary = coldpress_writer::write(
        source,
        &order,
        destination.file(),
        options,
        &mut |progress| pace.advance(progress),
    )
    .with_context(|| format!("cannot build {}", quoted(destination.path())))?;
    pace.finish();
    warn(request, summary.changed.values(), ui)?;
    Ok(summary)
}

/// What goes to standard output meanwhile: mksquashfs draws its bar there, and programs that read
/// it from a pipe look for the percents. On a terminal the bar of coldpress is enough.
fn shown(request: &Request, source: &Source, block_size: BlockSize) -> Shown {
    if request.talk.shows_bar() && !io::stdout().is_terminal() {
        let sizes = source.tree.new_nodes().iter().map(|node| match node.kind {
            Kind::File { size_bytes } => size_bytes,
            _ => 0,
        });
        let blocks = sizes.map(|bytes| bytes.div_ceil(block_size.bytes().into()));
        return Shown::Bar {
            blocks: blocks.sum(),
        };
    }
    Shown::percents(request.talk.percentage)
}

/// Prints warnings; the first one is an error if that is asked for.
fn warn<'a>(
    request: &Request,
    warnings: impl Iterator<Item = &'a Warning>,
    ui: &Ui,
) -> anyhow::Result<()> {
    for warning in warnings {
        // That a name is taken is no error of mksquashfs.
        let is_error = !warning.is_note() && !matches!(warning, Warning::Renamed { .. });
        if request.talk.exit_on_error && is_error {
            bail!("{warning}");
        }
        ui.warn(&warning.to_string());
    }
    Ok(())
}

fn now_s() -> anyhow::Result<u32> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now_s = now.context("the clock is before 1970")?.as_secs();
    u32::try_from(now_s).context("the clock is after 2106")
}
