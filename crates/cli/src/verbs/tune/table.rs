//! What there is to choose from, in columns.

use coldpress_report::Table;
use coldpress_report::units::{bytes, count, seconds};
use coldpress_tune::Row;

use super::Advice;

/// Those that no other beats, or all, those that start soonest first; the recommended one is
/// marked.
pub(super) fn proposed(advice: &Advice) -> Table {
    let tuned = advice.tuned;
    let is_shown = |place: usize| {
        advice.args.all || place == tuned.chosen || tuned.is_front.get(place) == Some(&true)
    };
    let rows = tuned.rows.iter().enumerate();
    let mut shown: Vec<(usize, &Row)> = rows
        .filter(|(place, row)| row.tool.is_none() && is_shown(*place))
        .collect();
    shown.sort_by(|(_, a), (_, b)| a.outcome.start_s.total_cmp(&b.outcome.start_s));
    let cells = |(place, row): (usize, &Row)| {
        let mark = if place == tuned.chosen { "* " } else { "  " };
        cells(format!("{mark}{}", row.candidate), row)
    };
    table(advice, "image", shown.into_iter().map(cells).collect())
}

/// What tools make today.
pub(super) fn today(advice: &Advice) -> Table {
    let rows = advice.tuned.rows.iter();
    let rows = rows.filter_map(|row| {
        let name = format!("  {}: {}", row.tool?, row.candidate);
        Some(cells(name, row))
    });
    table(advice, "made today by", rows.collect())
}

/// How many are not shown.
pub(super) fn left_out(advice: &Advice) -> usize {
    let all = advice.tuned.rows.iter().filter(|row| row.tool.is_none());
    all.count().saturating_sub(proposed(advice).rows.len())
}

fn table(advice: &Advice, first: &str, rows: Vec<Vec<String>>) -> Table {
    let start = if advice.args.has_start() {
        "cold start"
    } else {
        "whole read"
    };
    let columns = [
        first,
        start,
        "size",
        "build",
        "memory",
        "page cache",
        "reads",
        "read",
    ];
    Table {
        columns: columns.map(str::to_owned).to_vec(),
        rows,
    }
}

fn cells(name: String, row: &Row) -> Vec<String> {
    let outcome = &row.outcome;
    vec![
        name,
        seconds(outcome.start_s),
        bytes(outcome.size_bytes),
        seconds(outcome.build_s),
        bytes(outcome.memory_bytes),
        bytes(outcome.page_cache_bytes),
        count(outcome.reads),
        bytes(outcome.read_bytes),
    ]
}
