//! What was proven, in a screenful.

use std::io::Write as _;

use coldpress_bench::rows;
use coldpress_bench::text::{answers, exclusions, floors, images_beside};
use coldpress_history::Study;
use coldpress_report::text::wrapped;
use coldpress_session::ui::Ui;

use super::predicted;

/// Prints figures and answers to standard output.
pub(crate) fn print(study: &Study, ui: &Ui) -> anyhow::Result<()> {
    let rows = rows(study);
    let cells: Vec<_> = rows.iter().map(coldpress_bench::Row::cells).collect();
    let mut out = ui.out();
    writeln!(out, "{}\n", images_beside(&cells))?;
    let losses = rows.iter().filter_map(|row| {
        let losses = row.losses();
        (!losses.is_empty()).then(|| format!("{} {}.", row.name, losses.join(", ")))
    });
    let predictions = study.contestants.iter().zip(&rows);
    let predictions = predictions.filter_map(|(one, row)| predicted::sentence(&one.figures, row));
    let sentences = answers(&rows).into_iter();
    let width = out.width();
    for sentence in sentences
        .chain(losses)
        .chain(predictions)
        .chain(floors(&rows))
        .chain(exclusions(study))
    {
        writeln!(out, "{}", wrapped(&sentence, width))?;
    }
    out.flush()?;
    Ok(())
}
