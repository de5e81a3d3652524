//! The same words and numbers for the terminal and the report.

use std::fmt::Write as _;

use crate::comparison::Comparison;
use crate::format_units::{bytes, change, count, ratio, seconds};
use crate::rows::{Row, Versus};
use crate::stats::{Interval, Ratio, Summary, TURNS_FOR_VERDICT, Verdict};

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

/// One cell of the table of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The figure itself.
    pub value: String,
    /// Its interval, change or verdict; may be empty.
    pub detail: String,
}

impl Row {
    /// The row as text, under [`COLUMNS`].
    pub fn cells(&self) -> [Cell; 9] {
        let versus = self.versus.as_ref();
        let change_of = |field: fn(&Versus) -> Option<f64>| versus.and_then(field).map(change);
        [
            cell(Some(self.name.clone()), Some(self.runs())),
            cell(
                Some(bytes(self.size_bytes)),
                change_of(|versus| versus.size),
            ),
            time_cell(self.cold_s.as_ref()),
            time_cell(self.warm_s.as_ref()),
            cell(self.reads.map(count), change_of(|versus| versus.reads)),
            cell(
                self.read_bytes.map(bytes),
                change_of(|versus| versus.read_bytes),
            ),
            cell(
                self.page_cache_bytes.map(bytes),
                change_of(|versus| versus.page_cache),
            ),
            ratio_cell(versus, |versus| versus.cold),
            ratio_cell(versus, |versus| versus.warm),
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
        let mut text = format!("{} runs", self.counted);
        if self.excluded > 0 {
            let _ = write!(text, ", {} excluded", self.excluded);
        }
        text
    }
}

impl Comparison {
    /// What the comparison answers, one sentence for each contestant but the baseline; one sentence
    /// about the baseline if there is no other.
    ///
    /// * `rows`: of [`Comparison::rows`].
    pub fn answers(&self, rows: &[Row]) -> Vec<String> {
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
            [baseline, others @ ..] => others.iter().map(|other| answer(baseline, other)).collect(),
        }
    }
}

fn answer(baseline: &Row, row: &Row) -> String {
    let (before, name) = (&baseline.name, &row.name);
    let Some(cold) = row.versus.and_then(|versus| versus.cold) else {
        return format!("{name} and {before} have no counted run in the same turn.");
    };
    let median = |row: &Row| {
        row.cold_s
            .map_or("-".to_owned(), |cold_s| seconds(cold_s.median))
    };
    let times = format!("{} instead of {}", median(row), median(baseline));
    let (value, interval) = (ratio(cold.value), interval_of_ratio(&cold.interval));
    let unclear = format!("No difference shown between the cold starts of {name} and {before}");
    match cold.verdict {
        Verdict::Faster => format!(
            "{name} starts cold in {times}: {value} of the time of {before} ({interval}), faster."
        ),
        Verdict::Slower => format!(
            "{name} starts cold in {times}: {value} times as long as {before} ({interval}), slower."
        ),
        Verdict::NoDifferenceShown if cold.turns < TURNS_FOR_VERDICT => format!(
            "{unclear}: {times}, ratio {value}, but {} turns are too few for a verdict; \
             {TURNS_FOR_VERDICT} are needed.",
            cold.turns
        ),
        Verdict::NoDifferenceShown => format!("{unclear}: {times}, ratio {value} ({interval})."),
    }
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

/// Text that is safe to show: bytes that are not UTF-8 and control characters are written `\xNN`.
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() && c != '\n' && c != '\t' {
                let _ = write!(text, "\\x{:02x}", u32::from(c));
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

fn cell(value: Option<String>, detail: Option<String>) -> Cell {
    Cell {
        value: value.unwrap_or_else(|| "-".to_owned()),
        detail: detail.unwrap_or_default(),
    }
}

fn time_cell(summary: Option<&Summary>) -> Cell {
    let range = |found: &Summary| {
        format!(
            "{} to {}",
            seconds(found.interval.low),
            seconds(found.interval.high)
        )
    };
    cell(
        summary.map(|found| seconds(found.median)),
        summary.map(range),
    )
}

fn ratio_cell(versus: Option<&Versus>, field: fn(&Versus) -> Option<Ratio>) -> Cell {
    let found = versus.and_then(field);
    let verdict = |found: Ratio| {
        let (low, high) = (ratio(found.interval.low), ratio(found.interval.high));
        format!("{low} to {high}, {}", found.verdict)
    };
    cell(found.map(|found| ratio(found.value)), found.map(verdict))
}

#[cfg(test)]
mod tests;
