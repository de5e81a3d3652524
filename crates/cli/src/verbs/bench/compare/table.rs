//! Differences as a table, the figures of a contestant below each other.

use coldpress_bench::{COMPARISON_COLUMNS, Difference};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// Where figures stand, which are aligned at their ends.
const NUMBERS: std::ops::Range<usize> = 2..6;

pub(super) fn table(differences: &[Difference]) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(COMPARISON_COLUMNS);
    for difference in differences {
        table.add_row(difference.cells());
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
