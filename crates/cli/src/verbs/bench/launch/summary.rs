//! What was found, on the terminal.

use std::io::Write as _;

use coldpress_bench::rows;
use coldpress_bench::text::{exclusions, far_runs, floors, launch_standings, standings_table};
use coldpress_history::Study;
use coldpress_report::text::wrapped;
use coldpress_session::ui::Ui;

/// Prints a table and what is to be said of single runs.
pub(super) fn print(study: &Study, ui: &Ui) -> anyhow::Result<()> {
    let mut out = ui.out();
    writeln!(out, "{}", standings_table(&launch_standings(study)))?;
    let width = out.width();
    let seed = study.facts.get("seed").map_or("", String::as_str);
    let order = format!(
        "The first contestant is the baseline. In each turn all ran in random order, drawn from \
        the seed {seed}."
    );
    let sentences = std::iter::once(order)
        .chain(floors(&rows(study)))
        .chain(exclusions(study))
        .chain(far_runs(study));
    writeln!(out)?;
    for sentence in sentences {
        writeln!(out, "{}", wrapped(&sentence, width))?;
    }
    out.flush()?;
    Ok(())
}
