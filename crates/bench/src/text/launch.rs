//! What a study of starts shows first, and which of its runs are outliers.

use coldpress_history::Study;
use coldpress_report::text::escaped;

use crate::figure::formatted;
use crate::standing::{Standing, standings};
use crate::stats::outliers;

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

/// The figures of a study of starts that matter most, in a fixed order.
pub fn launch_standings(study: &Study) -> Vec<Standing> {
    let all = standings(study);
    let of = |name| all.iter().filter(move |found| found.figure == name);
    FIGURES.into_iter().flat_map(of).cloned().collect()
}

/// The runs far from the others of the same contestant, which count all the same; a sentence each.
pub fn far_runs(study: &Study) -> Vec<String> {
    let mut sentences = Vec::new();
    for (index, contestant) in study.contestants.iter().enumerate() {
        for time in TIMES {
            let values = study.values(index, time);
            let runs = study
                .counted(index)
                .filter(|run| run.figures.contains_key(time));
            let far = runs.zip(outliers(&values)).filter(|(_, is_far)| *is_far);
            sentences.extend(far.filter_map(|(run, _)| {
                let value = formatted(time, *run.figures.get(time)?);
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
