//! What is told of a start, on a terminal.

use std::io::{self, Write};

use coldpress_report::text::fields;

use super::{Findings, facts, tables};

/// Writes sums and tables.
///
/// * `top`: lines of a table at most.
///
/// # Errors
///
/// Those of `out`.
pub fn write_summary(findings: &Findings, top: usize, out: &mut dyn Write) -> io::Result<()> {
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
    write!(out, "{}", fields(&facts(findings)))?;
    for (table, all) in tables.iter().filter(|(table, _)| !table.rows.is_empty()) {
        writeln!(out, "\n{}", table.text())?;
        let more = all.saturating_sub(table.rows.len());
        if more > 0 {
            writeln!(out, "... and {more} more; `--top N` lists them")?;
        }
    }
    Ok(())
}
