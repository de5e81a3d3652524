//! `coldpress extents`: how files lie on their disk.

pub(crate) mod args;
mod found;
mod rows;
mod start;

use std::fs;
use std::io::Write as _;

use anyhow::Context as _;
use coldpress_report::text::{quoted, wrapped};
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_trace::Trace;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::verbs::extents::args::ExtentsArgs;
use rows::Report;

pub(super) fn run(args: &ExtentsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let step = ui.step("looking", 0);
    let (mut report, is_wrong) = match &args.trace {
        Some(path) => {
            let text = fs::read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
            let trace = Trace::parse(&text);
            let trace = trace.with_context(|| format!("cannot use {}", quoted(path)))?;
            start::look(&trace, &args.roots, ui)?
        }
        None => found::look(&args.paths, ui)?,
    };
    step.finish("");
    if let Some(top) = args.top {
        report.files.truncate(top);
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
    if !report.files.is_empty() {
        writeln!(out, "{}\n", table(report))?;
    }
    let width = out.width();
    for sentence in report.sentences() {
        writeln!(out, "{}", wrapped(&sentence, width))?;
    }
    out.flush()?;
    Ok(())
}

fn table(report: &Report) -> String {
    let mut table = Table::new();
    let columns = report.columns();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(columns);
    for row in &report.files {
        table.add_row(row.cells());
    }
    // All but the path are numbers.
    for column in table.column_iter_mut().take(columns.len() - 1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}
