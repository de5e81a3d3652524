//! What was proven, in a screenful.

use std::io::Write as _;

use coldpress_bench::Report;
use coldpress_bench::text::COLUMNS;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::ui::Ui;

/// Prints figures and answers to standard output.
pub(super) fn print(report: &Report, ui: &Ui) -> anyhow::Result<()> {
    let rows = report.comparison.rows();
    let cells: Vec<_> = rows.iter().map(coldpress_bench::Row::cells).collect();
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    // One line for each figure and one column for each image: names fit in 80 characters then.
    for (index, column) in COLUMNS.iter().enumerate() {
        let title = if index == 0 {
            String::new()
        } else {
            (*column).to_owned()
        };
        let figures = cells.iter().map(|row| row[index].value.clone());
        table.add_row(std::iter::once(title).chain(figures));
        let details: Vec<_> = cells.iter().map(|row| row[index].detail.clone()).collect();
        if details.iter().any(|detail| !detail.is_empty()) {
            table.add_row(std::iter::once(String::new()).chain(details));
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut out = ui.out();
    writeln!(out, "{}", table.trim_fmt())?;
    writeln!(out)?;
    for answer in report.comparison.answers(&rows) {
        writeln!(out, "{answer}")?;
    }
    for row in rows.iter().skip(1) {
        let losses = row.losses();
        if !losses.is_empty() {
            writeln!(out, "{} {}.", row.name, losses.join(", "))?;
        }
    }
    out.flush()?;
    Ok(())
}
