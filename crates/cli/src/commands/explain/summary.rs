//! What is told of a start, on the terminal.

use std::io::Write as _;

use coldpress_bench::Table;
use comfy_table::{CellAlignment, ContentArrangement, presets};

use super::{Told, facts, tables};
use crate::text::fields;
use crate::ui::Ui;

/// Prints sums and tables.
pub(super) fn print(told: &Told, ui: &Ui) -> anyhow::Result<()> {
    let top = told.args.top;
    let explanation = &told.explanation;
    let tables = [
        (tables::files(told, top), explanation.files.len()),
        (tables::metadata(told), 0),
        (tables::reasons(told), 0),
        (
            tables::repeated(told, top),
            explanation.repeats.blocks.len(),
        ),
        (tables::programs(told, top), told.known_programs().count()),
    ];
    let mut out = ui.out();
    write!(out, "{}", fields(&facts::facts(told)))?;
    for (table, all) in tables.iter().filter(|(table, _)| !table.rows.is_empty()) {
        writeln!(out, "\n{}", text(table))?;
        let more = all.saturating_sub(table.rows.len());
        if more > 0 {
            writeln!(out, "... and {more} more; `--top N` lists them")?;
        }
    }
    out.flush()?;
    Ok(())
}

/// A table whose lines are not broken: paths are copied from it.
fn text(table: &Table) -> String {
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
