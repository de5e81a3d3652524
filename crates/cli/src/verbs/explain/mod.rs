//! `coldpress explain`: a cold start from an image, and where its time and bytes went.

pub(crate) mod args;
mod recorded;
mod symbols;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use coldpress_bench::report_html;
use coldpress_explain::{
    Account, Findings, FindingsJson, ImageMap, Origin, Start, decompression_bytes_per_s,
    explain_programs, explained_page, write_summary,
};
use coldpress_host::machine;
use coldpress_image::Image;
use coldpress_report::text::quoted;
use coldpress_session::exit::Exit;
use coldpress_session::failure::unless_stdout_closed;
use coldpress_session::ui::Ui;
use coldpress_writer::Output;

use crate::verbs::explain::args::ExplainArgs;
use crate::{image_file, resolve, steps};
use recorded::{Recorded, Source};
use symbols::Orders;

pub(super) fn run(args: &ExplainArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let source = Source::resolve(args, ui)?;
    check_places(args)?;
    let opened = image_file::open(&args.image, &args.place)?;
    source.demand_privileges()?;
    let _hold = ui.interrupt.hold();
    // A wrong place is told before the recording.
    let report = args.report.as_deref().map(Output::create).transpose()?;
    let orders = Orders::create(&args.symbol_order)?;
    let map = ui
        .timed("mapping", "Find what lies where in the image", || {
            let bytes = Box::new(Arc::clone(&opened.bytes));
            ImageMap::new(&opened.image, bytes, &mut || ui.interrupt.poll())
        })
        .with_context(|| format!("cannot read {}", quoted(&args.image)))?;
    let recorded = source.record(&args.image, &opened, ui)?;
    let account = account(&map, &opened.image, &recorded)?;
    let explanation = account.explanation();
    let programs = explain_programs(&opened.image, &map, &account, &explanation, &|path| {
        orders.want(path)
    });
    let findings = Findings {
        image: &args.image,
        device: &args.device.name,
        trace: args.trace.as_deref(),
        kernel: machine().kernel,
        origin: &recorded.origin,
        map: &map,
        archives: account.archives(&opened.image, &explanation),
        explanation,
        programs,
    };
    let is_wrong = orders.write(&findings, args.linker.linker(), ui)?;
    if let Some(output) = report {
        let mut html = Vec::new();
        report_html(&explained_page(&findings), &mut html)?;
        steps::write_small(output, &html)?;
    }
    unless_stdout_closed(tell(args, &findings, ui))?;
    Ok(Exit::partial_if(is_wrong))
}

/// Nothing that is written may replace the image or another output.
fn check_places(args: &ExplainArgs) -> anyhow::Result<()> {
    let orders = args.symbol_order.iter().map(|order| &order.output);
    let outputs: Vec<&Path> = args
        .report
        .iter()
        .chain(orders)
        .map(PathBuf::as_path)
        .collect();
    resolve::check_outputs(&outputs, std::slice::from_ref(&args.image))
}

fn account<'a>(
    map: &'a ImageMap,
    image: &Image,
    recorded: &'a Recorded,
) -> anyhow::Result<Account<'a>> {
    let events = &recorded.events;
    let rate = match recorded.origin {
        Origin::Start { .. } => decompression_bytes_per_s(image, map, events)?,
        Origin::Trace { .. } => None,
    };
    let start = Start {
        events,
        counters: recorded.counters,
        wall_us: recorded.wall_us,
        decompression_bytes_per_s: rate,
        caches: recorded::caches(),
    };
    Ok(Account::new(map, start))
}

fn tell(args: &ExplainArgs, findings: &Findings, ui: &Ui) -> anyhow::Result<()> {
    if args.json {
        return ui.json(&FindingsJson::new(findings));
    }
    let mut out = ui.out();
    write_summary(findings, args.top, &mut out)?;
    out.flush()?;
    Ok(())
}
