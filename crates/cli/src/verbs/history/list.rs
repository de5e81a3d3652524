//! `coldpress history list`.

use std::io::Write as _;

use coldpress_history::{Listed, Origin};
use coldpress_report::LocalTime;
use coldpress_report::text::escaped;
use coldpress_report::units::count;
use coldpress_session::exit::Exit;
use coldpress_session::state;
use coldpress_session::ui::Ui;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

const COLUMNS: [&str; 8] = [
    "id",
    "began",
    "kind",
    "title",
    "contestants",
    "runs",
    "excluded",
    "state",
];

/// Columns of numbers, aligned at their ends.
const NUMBERS: [usize; 4] = [0, 4, 5, 6];

/// A line for `--json`.
#[derive(Debug, Serialize)]
struct Line<'a> {
    id: i64,
    /// `null` if nobody wrote it down.
    began_unix_ms: Option<u64>,
    kind: &'static str,
    title: &'a str,
    citation: Option<&'a str>,
    contestants: u64,
    runs: u64,
    excluded: u64,
    state: &'static str,
}

pub(super) fn run(json: bool, ui: &Ui) -> anyhow::Result<Exit> {
    let listed = state::open()?.list()?;
    let lines: Vec<Line<'_>> = listed.iter().map(line).collect();
    if json {
        ui.json(&lines)?;
        return Ok(Exit::Done);
    }
    if lines.is_empty() {
        ui.say("nothing was measured yet");
        return Ok(Exit::Done);
    }
    let mut out = ui.out();
    writeln!(out, "{}", table(&lines))?;
    out.flush()?;
    Ok(Exit::Done)
}

fn line(listed: &Listed) -> Line<'_> {
    Line {
        id: listed.id,
        began_unix_ms: Some(listed.began_unix_ms).filter(|began| *began > 0),
        kind: listed.kind.name(),
        title: &listed.title,
        citation: match &listed.origin {
            Origin::Measured => None,
            Origin::Published { citation } => Some(citation),
        },
        contestants: listed.contestants,
        runs: listed.counted,
        excluded: listed.excluded,
        state: super::state_of(listed),
    }
}

fn table(lines: &[Line<'_>]) -> String {
    let time = LocalTime::new(false);
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(COLUMNS);
    for line in lines {
        let began = line
            .began_unix_ms
            .and_then(|began| u32::try_from(began / 1000).ok());
        let published = line.citation.map_or("", |_| " (published)");
        table.add_row([
            line.id.to_string(),
            began.map_or_else(|| "-".to_owned(), |began| time.text(began, false)),
            line.kind.to_owned(),
            format!("{}{published}", escaped(line.title.as_bytes())),
            count(line.contestants),
            count(line.runs),
            count(line.excluded),
            line.state.to_owned(),
        ]);
    }
    for column in NUMBERS {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}
