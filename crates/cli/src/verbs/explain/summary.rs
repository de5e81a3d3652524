//! What is told of a start, on the terminal.

use std::io::Write as _;

use coldpress_report::text::fields;
use coldpress_session::ui::Ui;

use super::{Told, facts, tables};

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
        writeln!(out, "\n{}", table.drawn())?;
        let more = all.saturating_sub(table.rows.len());
        if more > 0 {
            writeln!(out, "... and {more} more; `--top N` lists them")?;
        }
    }
    out.flush()?;
    Ok(())
}
