//! Differences as a table, the figures of a contestant below each other.

use coldpress_bench::{Difference, Evidence, figure};
use coldpress_report::text::escaped;
use coldpress_report::units::change;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// Headings of [`cells`].
pub(super) const COLUMNS: [&str; 7] = [
    "contestant",
    "figure",
    "base",
    "new",
    "change",
    "95 % interval",
    "verdict",
];

/// Where figures stand, which are aligned at their ends.
const NUMBERS: std::ops::Range<usize> = 2..6;

pub(super) fn table(differences: &[Difference]) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(COLUMNS);
    for difference in differences {
        table.add_row(cells(difference));
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

/// A difference as text, under [`COLUMNS`].
pub(super) fn cells(difference: &Difference) -> [String; COLUMNS.len()] {
    let [base, new] = values(difference);
    let interval = difference
        .relation
        .interval
        .filter(|sure| sure.low < sure.high);
    [
        escaped(difference.contestant.as_bytes()),
        escaped(difference.figure.as_bytes()),
        base,
        new,
        difference
            .relation
            .ratio
            .map_or_else(|| "-".to_owned(), change),
        interval.map_or_else(String::new, |sure| {
            format!("{} to {}", change(sure.low), change(sure.high))
        }),
        difference.verdict().to_owned(),
    ]
}

/// The older and the newer figure; with all digits if three do not tell them apart, as where a size grew by a byte.
pub(super) fn values(difference: &Difference) -> [String; 2] {
    let values = [difference.base, difference.new];
    let [base, new] = values.map(|value| figure(&difference.figure, value));
    let is_exact = difference.relation.evidence == Evidence::Exact;
    if base == new && is_exact && difference.relation.ratio != Some(1.0) {
        return values.map(|value| value.to_string());
    }
    [base, new]
}
