//! Tables as text.

use coldpress_bench::Table;
use comfy_table::{CellAlignment, ContentArrangement, presets};

/// A table whose lines are not broken: paths are copied from it. Columns of numbers stand below each other's ends.
pub(crate) fn drawn(table: &Table) -> String {
    let mut drawn = comfy_table::Table::new();
    drawn
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(&table.columns)
        .add_rows(&table.rows);
    // The last column of some tables is a text.
    let is_number = |column: usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(column));
        cells.all(|cell| cell.starts_with(|first: char| first.is_ascii_digit() || first == '-'))
    };
    for (index, column) in drawn.column_iter_mut().enumerate().skip(1) {
        if is_number(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    drawn.trim_fmt()
}
