//! What is told of a start, on the terminal.

use std::io::Write as _;

use coldpress_explain::{Findings, facts, tables};
use coldpress_report::text::fields;
use coldpress_session::ui::Ui;

/// Prints sums and tables.
pub(super) fn print(findings: &Findings, top: usize, ui: &Ui) -> anyhow::Result<()> {
    let explanation = &findings.explanation;
    let tables = [
        (tables::files(findings, top), explanation.files.len()),
        (tables::metadata(findings), 0),
        (tables::reasons(findings), 0),
        (
            tables::repeated(findings, top),
            explanation.repeats.blocks.len(),
        ),
        (tables::archives(findings, top), findings.archives.len()),
        (
            tables::programs(findings, top),
            findings.known_programs().count(),
        ),
    ];
    let mut out = ui.out();
    write!(out, "{}", fields(&facts(findings)))?;
    for (table, all) in tables.iter().filter(|(table, _)| !table.rows.is_empty()) {
        writeln!(out, "\n{}", table.text())?;
        let more = all.saturating_sub(table.rows.len());
        if more > 0 {
            writeln!(out, "... and {more} more; `--top N` lists them")?;
        }
    }
    out.flush()?;
    Ok(())
}
