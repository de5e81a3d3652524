//! Tables as text.

use comfy_table::{CellAlignment, ContentArrangement, presets};

/// A table; the first column names its row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What the columns are called.
    pub columns: Vec<String>,
    /// As many cells as there are columns, each.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The table as text. Lines are not broken, since people copy paths from it. Numbers are
    /// aligned to the right.
    pub fn text(&self) -> String {
        let mut text = comfy_table::Table::new();
        text.load_preset(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(&self.columns)
            .add_rows(&self.rows);
        // The last column of some tables is a text.
        let is_number = |column: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.all(|cell| cell.starts_with(|first: char| first.is_ascii_digit() || first == '-'))
        };
        for (index, column) in text.column_iter_mut().enumerate().skip(1) {
            if is_number(index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        text.trim_fmt()
    }
}
