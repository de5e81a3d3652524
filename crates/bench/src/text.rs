//! The same words and numbers for the terminal and the report.

mod answer;
mod images_beside;
mod launch;
mod standings;
mod study_head;

pub(crate) use answer::{COLD_START, Deed, answer};
pub use images_beside::images_beside;
pub use launch::{far_runs, launch_standings};
pub use standings::standings_table;
pub use study_head::study_head;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use coldpress_history::Study;
use coldpress_report::text::escaped;
use coldpress_report::units::{change, ratio, seconds};

use crate::figure::formatted;
use crate::rows::{Row, Versus};
use crate::stats::{Interval, Ratio, Summary, Verdict};

/// Headings of [`Row::cells`].
pub const COLUMNS: [&str; 9] = [
    "image",
    "size",
    "cold start",
    "warm start",
    "reads",
    "bytes read",
    "page cache",
    "cold ratio",
    "warm ratio",
];

/// Counts at the block device are reproducible to about 2 %; a smaller change is not called a loss.
const COUNT_NOISE: f64 = 0.02;

/// One cell of the table of results. All but the value may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The figure itself.
    pub value: String,
    /// How much it differs from that of the baseline.
    pub change: String,
    /// Its interval, or for a name the number of runs.
    pub detail: String,
    /// What the interval allows to say.
    pub verdict: String,
}

impl Row {
    /// The row as text, under [`COLUMNS`].
    pub fn cells(&self) -> [Cell; 9] {
        let versus = self.versus.as_ref();
        let change_of = |field: fn(&Versus) -> Option<f64>| versus.and_then(field).map(change);
        let changed = |figure: &str, value: Option<f64>, field| Cell {
            change: change_of(field).unwrap_or_default(),
            ..cell(value.map(|value| formatted(figure, value)))
        };
        [
            Cell {
                detail: self.runs(),
                ..cell(Some(self.name.clone()))
            },
            changed("size_bytes", self.size_bytes, |versus| versus.size),
            time_cell(self.cold_s.as_ref()),
            time_cell(self.warm_s.as_ref()),
            changed("reads", self.reads, |versus| versus.reads),
            changed("read_bytes", self.read_bytes, |versus| versus.read_bytes),
            changed("page_cache_bytes", self.page_cache_bytes, |versus| {
                versus.page_cache
            }),
            ratio_cell(versus.and_then(|versus| versus.cold)),
            ratio_cell(versus.and_then(|versus| versus.warm)),
        ]
    }

    /// What is worse than in the baseline, each in a clause without a subject: `is 3.1 % larger`.
    pub fn losses(&self) -> Vec<String> {
        let Some(versus) = &self.versus else {
            return Vec::new();
        };
        let mut losses = Vec::new();
        let slower = [("cold", versus.cold), ("warm", versus.warm)];
        for (start, found) in slower {
            if let Some(found) = found.filter(|found| found.verdict == Verdict::Slower) {
                let interval = interval_of_ratio(&found.interval);
                let times = ratio(found.value);
                losses.push(format!(
                    "takes {times} times as long to start {start} ({interval})"
                ));
            }
        }
        let more = |found: Option<f64>, noise: f64| {
            let found = found.filter(|found| *found > 1.0 + noise)?;
            Some(format!("{:.1} %", (found - 1.0) * 100.0))
        };
        // A size has no noise, but a change that prints as 0.0 % is none.
        let size = more(versus.size, 0.000_5).map(|more| format!("is {more} larger"));
        let reads = more(versus.reads, COUNT_NOISE).map(|more| format!("needs {more} more reads"));
        let read_bytes =
            more(versus.read_bytes, COUNT_NOISE).map(|more| format!("reads {more} more bytes"));
        let page_cache = more(versus.page_cache, COUNT_NOISE)
            .map(|more| format!("occupies {more} more of the page cache"));
        losses.extend([size, reads, read_bytes, page_cache].into_iter().flatten());
        losses
    }

    fn runs(&self) -> String {
        let mut text = plural(self.counted, "run", "runs");
        if self.excluded > 0 {
            let _ = write!(text, ", {} excluded", self.excluded);
        }
        text
    }
}

/// What a comparison answers, one sentence for each contestant but the baseline; one sentence about
/// the baseline if there is no other.
pub fn answers(rows: &[Row]) -> Vec<String> {
    match rows {
        [] => Vec::new(),
        [only] => vec![match &only.cold_s {
            Some(cold_s) => format!(
                "{} starts cold in {} ({}).",
                only.name,
                seconds(cold_s.median),
                interval_of_seconds(&cold_s.interval)
            ),
            None => format!("{}: no run counts.", only.name),
        }],
        [baseline, others @ ..] => others
            .iter()
            .map(|other| cold_answer(baseline, other))
            .collect(),
    }
}

/// What no image can shorten, one sentence for each contestant that takes at least half of its cold
/// start even with everything in memory.
pub fn floors(rows: &[Row]) -> Vec<String> {
    let sentence = |row: &Row| {
        let (cold_s, warm_s) = (row.cold_s?.median, row.warm_s?.median);
        (warm_s * 2.0 >= cold_s).then(|| {
            format!(
                "{}: {} of {} pass even with everything in memory; that is the time of the \
                 programs, and no image shortens it.",
                row.name,
                seconds(warm_s.min(cold_s)),
                seconds(cold_s)
            )
        })
    };
    rows.iter().filter_map(sentence).collect()
}

/// Which runs of a study do not count and why, one sentence for each contestant and reason.
pub fn exclusions(study: &Study) -> Vec<String> {
    let mut counts: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for run in &study.runs {
        if let Some(reason) = &run.excluded {
            *counts.entry((run.contestant, reason)).or_default() += 1;
        }
    }
    let sentence = |((contestant, reason), count): ((usize, &str), usize)| {
        let name = study.contestants.get(contestant);
        let name = name.map_or("-", |contestant| contestant.name.as_str());
        let runs = plural(count, "run", "runs");
        let do_not = if count == 1 { "does not" } else { "do not" };
        let [name, reason] = [name, reason].map(|text| escaped(text.as_bytes()));
        format!("{runs} of {name} {do_not} count: {reason}.")
    };
    counts.into_iter().map(sentence).collect()
}

fn cold_answer(baseline: &Row, row: &Row) -> String {
    let median = |row: &Row| row.cold_s.map(|cold_s| cold_s.median);
    answer(
        &COLD_START,
        (&baseline.name, median(baseline)),
        (&row.name, median(row)),
        row.versus.and_then(|versus| versus.cold),
    )
}

/// Formats an interval of times: `95 % interval 1.10 s to 1.31 s`.
pub fn interval_of_seconds(interval: &Interval) -> String {
    format!(
        "95 % interval {} to {}",
        seconds(interval.low),
        seconds(interval.high)
    )
}

/// Formats an interval of ratios: `95 % interval 0.501 to 0.602`.
pub fn interval_of_ratio(interval: &Interval) -> String {
    format!(
        "95 % interval {} to {}",
        ratio(interval.low),
        ratio(interval.high)
    )
}

pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn cell(value: Option<String>) -> Cell {
    Cell {
        value: value.unwrap_or_else(|| "-".to_owned()),
        ..Cell::default()
    }
}

fn time_cell(summary: Option<&Summary>) -> Cell {
    let range = |found: &Summary| {
        let (low, high) = (seconds(found.interval.low), seconds(found.interval.high));
        format!("{low} to {high}")
    };
    Cell {
        detail: summary.map(range).unwrap_or_default(),
        ..cell(summary.map(|found| seconds(found.median)))
    }
}

fn ratio_cell(found: Option<Ratio>) -> Cell {
    let range = |found: Ratio| {
        let (low, high) = (ratio(found.interval.low), ratio(found.interval.high));
        format!("{low} to {high}")
    };
    Cell {
        detail: found.map(range).unwrap_or_default(),
        verdict: found.map_or_else(String::new, |found| found.verdict.to_string()),
        ..cell(found.map(|found| ratio(found.value)))
    }
}

#[cfg(test)]
mod tests;
