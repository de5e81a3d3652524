//! The figures of a study as a table.

use std::ops::Range;

use coldpress_report::Table;
use coldpress_report::text::escaped;
use coldpress_report::units::{change, count};

use crate::figure::formatted;
use crate::standing::Standing;

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
const NUMBERS: Range<usize> = 2..7;

/// Figures, a line for each of each contestant.
pub fn standings_table(standings: &[Standing]) -> String {
    let table = Table {
        columns: COLUMNS.map(str::to_owned).to_vec(),
        rows: standings.iter().map(cells).collect(),
    };
    table.text_with_numbers(|column| NUMBERS.contains(&column))
}

fn cells(standing: &Standing) -> Vec<String> {
    let Standing {
        figure: name,
        summary,
        versus,
        ..
    } = standing;
    let told = |value| formatted(name, value);
    let ratio = versus.and_then(|versus| versus.ratio);
    let interval = versus
        .and_then(|versus| versus.interval)
        .filter(|sure| sure.low < sure.high);
    let quartiles = [summary.lower_quartile, summary.upper_quartile].map(told);
    vec![
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
