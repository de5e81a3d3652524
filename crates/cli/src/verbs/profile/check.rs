//! `coldpress profile check`.

mod moves;

use std::io::Write as _;

use coldpress_layout::{How, Matched, Matching};
use coldpress_report::text::{escaped, escaped_path, fields, plural};
use coldpress_report::units;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_trace::PAGE_SIZE_BYTES;
use serde::Serialize;

use self::moves::{Move, moves};
use crate::profiles::OrderingProfile;
use crate::steps;
use crate::verbs::profile::args::ProfileCheckArgs;

/// How many moves are printed; all of what is stale is.
const MOVES_MAX: usize = 20;

/// The result for `--json`.
#[derive(Debug, Serialize)]
struct Report {
    profile: String,
    source: String,
    recordings: u32,
    paths: u64,
    found_by_path: usize,
    found_by_name: usize,
    found_by_content: usize,
    stale_paths: u64,
    touched_bytes: u64,
    stale_bytes: u64,
    /// Files of another length than the profile knows.
    resized_files: usize,
    stale_path_percent: f64,
    stale_byte_percent: f64,
    /// The larger one of both.
    staleness_percent: f64,
    fail_stale_percent: Option<f64>,
    too_stale: bool,
    /// Found elsewhere than by path.
    moved: Vec<Move>,
    stale: Vec<Row>,
}

/// Something that is stale.
#[derive(Debug, Serialize)]
struct Row {
    /// With escapes.
    path: String,
    stale_bytes: u64,
    reason: &'static str,
}

pub(super) fn run(args: &ProfileCheckArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let profile = OrderingProfile::with_limits(args.profile.clone(), &args.limits)?;
    let (_, source) = steps::scan(&args.source, ui)?;
    let matching = profile.matched(&source, ui)?;
    let too_stale = profile.too_stale(&matching);
    let report = Report {
        profile: escaped_path(profile.path()),
        source: escaped_path(&args.source),
        recordings: profile.recordings(),
        fail_stale_percent: args.limits.fail_stale,
        too_stale: too_stale.is_some(),
        ..report(&matching)
    };
    if args.json {
        ui.json(&report)?;
    } else {
        print(&report, ui)?;
    }
    if let Some(why) = &too_stale {
        ui.error(&format!("{why}; record again"));
    }
    Ok(Exit::partial_if(too_stale.is_some()))
}

fn report(matching: &Matching) -> Report {
    let staleness = matching.staleness();
    let found = |how: How| {
        let paths = matching.paths.iter();
        let found = paths.filter_map(|path| path.found.as_ref());
        found.filter(|(found, _)| *found == how).count()
    };
    let resized = matching.paths.iter().filter(|path| path.is_resized);
    Report {
        profile: String::new(),
        source: String::new(),
        recordings: 0,
        paths: staleness.paths,
        found_by_path: found(How::Path),
        found_by_name: found(How::Name),
        found_by_content: found(How::Content),
        stale_paths: staleness.stale_paths,
        touched_bytes: staleness.bytes,
        stale_bytes: staleness.stale_bytes,
        resized_files: resized.count(),
        stale_path_percent: staleness.path_percent(),
        stale_byte_percent: staleness.byte_percent(),
        staleness_percent: staleness.percent(),
        fail_stale_percent: None,
        too_stale: false,
        moved: moves(matching),
        stale: matching.stale().into_iter().map(row).collect(),
    }
}

fn row(matched: &Matched) -> Row {
    Row {
        path: escaped(&matched.path),
        stale_bytes: matched.stale_pages.saturating_mul(PAGE_SIZE_BYTES),
        reason: if matched.found.is_some() {
            "shorter now"
        } else {
            "not found"
        },
    }
}

fn print(report: &Report, ui: &Ui) -> anyhow::Result<()> {
    let mut out = ui.out();
    let Report {
        found_by_path,
        found_by_name,
        found_by_content,
        stale_paths,
        stale_path_percent,
        stale_byte_percent,
        ..
    } = report;
    let [touched, stale] = [report.touched_bytes, report.stale_bytes].map(units::bytes);
    let rows = [
        (
            "paths",
            format!(
                "{}: {found_by_path} by path, {found_by_name} by name, {found_by_content} by \
                 content, {stale_paths} stale ({stale_path_percent:.1} %)",
                report.paths
            ),
        ),
        (
            "bytes",
            format!("{touched} touched, {stale} stale ({stale_byte_percent:.1} %)"),
        ),
        (
            "resized",
            plural(report.resized_files as u64, "file", "files"),
        ),
        ("staleness", format!("{:.1} %", report.staleness_percent)),
    ];
    write!(out, "{}", fields(&rows))?;
    if !report.moved.is_empty() {
        writeln!(out, "\nfound elsewhere:")?;
    }
    for Move {
        from,
        to,
        by,
        paths,
    } in report.moved.iter().take(MOVES_MAX)
    {
        let paths = plural(*paths, "path", "paths");
        writeln!(out, "  {from}: {to} (by {by}, {paths})")?;
    }
    if let Some(more @ 1..) = report.moved.len().checked_sub(MOVES_MAX) {
        writeln!(out, "  and {more} more, which --json lists")?;
    }
    if !report.stale.is_empty() {
        writeln!(out, "\nstale:")?;
    }
    for row in &report.stale {
        let bytes = units::bytes(row.stale_bytes);
        writeln!(out, "  {}: {}, {bytes}", row.path, row.reason)?;
    }
    out.flush()?;
    Ok(())
}
