//! Tables as text.

use comfy_table::{CellAlignment, ContentArrangement, presets};

/// A table; the first column names its row. Without columns it has no header.
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
        // The last column of some tables is a text.
        let is_number = |column: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.all(|cell| cell.starts_with(|first: char| first.is_ascii_digit() || first == '-'))
        };
        self.text_with_numbers(|column| column > 0 && is_number(column))
    }

    /// The same, if it is known which columns are aligned to the right.
    pub fn text_with_numbers(&self, is_number: impl Fn(usize) -> bool) -> String {
        let mut text = comfy_table::Table::new();
        text.load_preset(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled)
            .add_rows(&self.rows);
        if !self.columns.is_empty() {
            text.set_header(&self.columns);
        }
        for (index, column) in text.column_iter_mut().enumerate() {
            if is_number(index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        text.trim_fmt()
    }
}
