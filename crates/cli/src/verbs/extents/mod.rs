//! `coldpress extents`: how files lie on their disk.

pub(crate) mod args;

use std::fs;
use std::io::Write as _;

use anyhow::Context as _;
use coldpress_files::extents::{self, Report};
use coldpress_report::text::{quoted, wrapped};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_trace::Trace;

use crate::verbs::extents::args::ExtentsArgs;

pub(super) fn run(args: &ExtentsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let step = ui.step("looking", 0);
    let (mut report, is_wrong) = match &args.trace {
        Some(path) => {
            let text = fs::read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
            let trace = Trace::parse(&text);
            let trace = trace.with_context(|| format!("cannot use {}", quoted(path)))?;
            extents::of_start(&trace, &args.roots, ui)?
        }
        None => extents::of_paths(&args.paths, ui)?,
    };
    step.finish("");
    if let Some(top) = args.top {
        report.truncate(top);
    }
    if args.json {
        ui.json(&report)?;
    } else {
        print(&report, ui)?;
    }
    Ok(Exit::partial_if(is_wrong))
}

fn print(report: &Report, ui: &Ui) -> anyhow::Result<()> {
    let mut out = ui.out();
    let table = report.table();
    if !table.is_empty() {
        writeln!(out, "{table}\n")?;
    }
    let width = out.width();
    for sentence in report.sentences() {
        writeln!(out, "{}", wrapped(&sentence, width))?;
    }
    out.flush()?;
    Ok(())
}
