//! The samples as JSON, for the script of the page and for whoever wants to read them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::samples::figures_of_runs;
use super::view::View;

/// All runs of all studies: a list for each study, with a row for each run.
pub(super) fn json(views: &[View]) -> String {
    let studies: Vec<Value> = views.iter().map(study).collect();
    json!({ "studies": studies }).to_string()
}

fn study(view: &View) -> Value {
    let figures = figures_of_runs(view);
    let contestants = &view.study.contestants;
    let rows = view.study.runs.iter().map(|run| {
        let values = figures
            .iter()
            .map(|name| number(run.figures.get(*name).copied()));
        let head = [
            json!(run.contestant),
            json!(run.turn.saturating_add(1)),
            json!(run.excluded),
        ];
        Value::Array(head.into_iter().chain(values).collect())
    });
    // A figure that runs have as well is theirs.
    let keys = contestants.iter().flat_map(|one| one.figures.keys());
    let constants: BTreeSet<&str> = keys
        .map(String::as_str)
        .filter(|name| !figures.contains(name))
        .collect();
    let of_contestants = contestants.iter().map(|one| {
        let values = constants
            .iter()
            .map(|name| number(one.figures.get(*name).copied()));
        values.collect::<Value>()
    });
    json!({
        "title": view.study.title,
        "contestants": contestants.iter().map(|one| &one.name).collect::<Vec<_>>(),
        "figures": figures,
        "runs": rows.collect::<Vec<_>>(),
        "contestant_figures": constants,
        "contestant_values": of_contestants.collect::<Vec<_>>(),
    })
}

/// Whole numbers without a fraction, which is what most figures are.
fn number(value: Option<f64>) -> Value {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0; // 2^53
    match value {
        Some(value) if value.fract() == 0.0 && value.abs() < EXACT_MAX => {
            #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
            let whole = value as i64;
            whole.into()
        }
        Some(value) => value.into(),
        None => Value::Null,
    }
}
