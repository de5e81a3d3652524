//! What is told of a choice, on the terminal.

use std::io::Write as _;

use coldpress_report::text::{fields, plural, wrapped};
use coldpress_session::ui::Ui;
use coldpress_tune::Equivalent;

use super::{Advice, facts, readahead, table, why};
use crate::losses;

/// Prints the front, what tools make today, the reasons, and how to build it.
pub(super) fn print(advice: &Advice, ui: &Ui) -> anyhow::Result<()> {
    let mut out = ui.out();
    let width = out.width();
    writeln!(out, "{}", fields(&facts::facts(advice)))?;
    writeln!(out, "{}", table::proposed(advice).text())?;
    let left_out = table::left_out(advice) as u64;
    if left_out > 0 {
        let others = plural(
            left_out,
            "image that another beats",
            "images that another beats",
        );
        writeln!(out, "  and {others}; `--all` lists them")?;
    }
    writeln!(out, "\n{}\n", table::today(advice).text())?;
    if let Some(losses) = losses::table(&advice.losses()) {
        writeln!(out, "{}\n", losses.text())?;
    }
    for sentence in why::why(advice) {
        writeln!(out, "{}", wrapped(&sentence, width))?;
    }
    writeln!(out)?;
    if let Some(line) = advice.build_line() {
        writeln!(out, "{line}")?;
    }
    for line in readahead::lines(advice) {
        writeln!(out, "{line}")?;
    }
    for equivalent in advice.equivalents() {
        writeln!(out, "{}", equivalent_text(&equivalent))?;
    }
    out.flush()?;
    Ok(())
}

/// The tool, what to type, and what it cannot be told.
fn equivalent_text(equivalent: &Equivalent) -> String {
    let Equivalent { tool, lines, lacks } = equivalent;
    let heading = match (lines.is_empty(), lacks.is_empty()) {
        (true, _) => format!("{tool} cannot build it: it lacks {}", lacks.join("; ")),
        (_, true) => format!("{tool}:"),
        _ => format!("{tool}, which lacks {}:", lacks.join("; ")),
    };
    let lines = lines.iter().map(|line| format!("\n  {line}"));
    format!("{heading}{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_come_with_what_to_type_and_what_they_lack() {
        let advice = |lines: &[&str], lacks: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            equivalent_text(&Equivalent {
                tool: "tool",
                lines: owned(lines),
                lacks: owned(lacks),
            })
        };
        assert_eq!(advice(&["a", "b"], &[]), "tool:\n  a\n  b");
        assert_eq!(advice(&["a"], &["x", "y"]), "tool, which lacks x; y:\n  a");
        assert_eq!(advice(&[], &["x"]), "tool cannot build it: it lacks x");
    }
}
