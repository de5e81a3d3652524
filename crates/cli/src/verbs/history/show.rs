//! `coldpress history show`.

use std::io::Write as _;

use coldpress_bench::text::exclusions;
use coldpress_bench::{Standing, figure, standings};
use coldpress_history::{Origin, Study};
use coldpress_report::LocalTime;
use coldpress_report::text::{escaped, fields};
use coldpress_report::units::{change, count};
use coldpress_session::exit::Exit;
use coldpress_session::state;
use coldpress_session::ui::Ui;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::verbs::history::args::ShowArgs;

const COLUMNS: [&str; 8] = [
    "figure",
    "contestant",
    "runs",
    "median",
    "quartiles",
    "change",
    "95 % interval",
    "verdict",
];

/// Where figures stand, which are aligned at their ends.
const NUMBERS: std::ops::Range<usize> = 2..7;

pub(super) fn run(args: &ShowArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let history = state::open()?;
    let study = super::find(&history, args.id)?;
    if args.json {
        ui.json(&study)?;
        return Ok(Exit::Done);
    }
    let listed = history.list()?;
    let listed = listed.iter().find(|listed| listed.id == args.id);
    let became = listed.map_or(study.state.name(), super::state_of);
    let mut out = ui.out();
    write!(out, "{}", head(&study, became))?;
    let standings = standings(&study);
    if !standings.is_empty() {
        writeln!(out, "\n{}", table(&standings))?;
    }
    let exclusions = exclusions(&study);
    if !exclusions.is_empty() {
        writeln!(out)?;
    }
    for sentence in exclusions {
        writeln!(out, "{sentence}")?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// What the study is, what became of it, and what it depends on.
fn head(study: &Study, became: &str) -> String {
    let began = u32::try_from(study.began_unix_ms / 1000)
        .ok()
        .filter(|began| *began > 0);
    let mut rows = vec![
        ("title", escaped(study.title.as_bytes())),
        ("kind", study.kind.name().to_owned()),
        (
            "began",
            began.map_or_else(
                || "-".to_owned(),
                |began| LocalTime::new(false).text(began, true),
            ),
        ),
        ("state", became.to_owned()),
    ];
    if let Origin::Published { citation } = &study.origin {
        rows.push(("published", escaped(citation.as_bytes())));
    }
    let facts: Vec<(String, String)> = study
        .facts
        .iter()
        .map(|(name, value)| (escaped(name.as_bytes()), escaped(value.as_bytes())))
        .collect();
    rows.extend(
        facts
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone())),
    );
    fields(&rows)
}

/// Figures, a line for each of each contestant.
pub(in crate::verbs) fn table(standings: &[Standing]) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(COLUMNS);
    for standing in standings {
        table.add_row(cells(standing));
    }
    for column in table
        .column_iter_mut()
        .skip(NUMBERS.start)
        .take(NUMBERS.len())
    {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

fn cells(standing: &Standing) -> [String; COLUMNS.len()] {
    let Standing {
        figure: name,
        summary,
        versus,
        ..
    } = standing;
    let told = |value| figure(name, value);
    let ratio = versus.and_then(|versus| versus.ratio);
    let interval = versus
        .and_then(|versus| versus.interval)
        .filter(|sure| sure.low < sure.high);
    let quartiles = [summary.lower_quartile, summary.upper_quartile].map(told);
    [
        escaped(name.as_bytes()),
        escaped(standing.contestant.as_bytes()),
        if standing.is_own {
            "all".to_owned()
        } else {
            count(summary.count as u64)
        },
        told(summary.median),
        if summary.count > 1 {
            quartiles.join(" to ")
        } else {
            String::new()
        },
        ratio.map_or_else(String::new, change),
        interval.map_or_else(String::new, |sure| {
            format!("{} to {}", change(sure.low), change(sure.high))
        }),
        versus.map_or("", |versus| versus.verdict(name)).to_owned(),
    ]
}
