//! What was found, on the terminal.

use std::io::Write as _;

use coldpress_bench::stats::outliers;
use coldpress_bench::text::{exclusions, floors};
use coldpress_bench::{figure, rows, standings};
use coldpress_history::Study;
use coldpress_report::text::{escaped, wrapped};
use coldpress_session::ui::Ui;

use crate::verbs::history::show::table;

/// The figures that are shown, in this order; the study has more.
const FIGURES: [&str; 9] = [
    "size_bytes",
    "build_s",
    "cold_s",
    "warm_s",
    "walk_s",
    "reads",
    "read_bytes",
    "page_cache_bytes",
    "readahead_bytes",
];

/// Times of which outliers are named.
const TIMES: [&str; 3] = ["cold_s", "warm_s", "walk_s"];

/// Prints a table and what is to be said of single runs.
pub(super) fn print(study: &Study, ui: &Ui) -> anyhow::Result<()> {
    let all = standings(study);
    let mut shown = Vec::with_capacity(all.len());
    for name in FIGURES {
        shown.extend(all.iter().filter(|found| found.figure == name).cloned());
    }
    let mut out = ui.out();
    writeln!(out, "{}", table(&shown))?;
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

/// The runs far from the others of the same contestant, which count all the same.
fn far_runs(study: &Study) -> Vec<String> {
    let mut sentences = Vec::new();
    for (index, contestant) in study.contestants.iter().enumerate() {
        for time in TIMES {
            let values = study.values(index, time);
            let runs = study
                .counted(index)
                .filter(|run| run.figures.contains_key(time));
            let far = runs.zip(outliers(&values)).filter(|(_, is_far)| *is_far);
            sentences.extend(far.filter_map(|(run, _)| {
                let value = figure(time, *run.figures.get(time)?);
                let name = escaped(contestant.name.as_bytes());
                let turn = run.turn + 1;
                Some(format!(
                    "outlier: {time} of {name} in turn {turn}, {value}; it counts"
                ))
            }));
        }
    }
    sentences
}
