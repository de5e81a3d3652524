//! Conditions, each applied to each figure that it is about.

use anyhow::anyhow;
use coldpress_bench::{Condition, Difference};
use coldpress_report::failure::hint;
use coldpress_report::text::escaped;
use coldpress_report::units::{change, ratio};
use serde::{Serialize, Serializer};

use super::table::values;

/// A condition, applied to a figure of a contestant.
#[derive(Debug, Serialize)]
pub(super) struct Judgement<'a> {
    #[serde(serialize_with = "as_text")]
    pub(super) condition: &'a Condition,
    pub(super) contestant: &'a str,
    pub(super) figure: &'a str,
    /// `None` if there are too few runs.
    pub(super) holds: Option<bool>,
    #[serde(skip)]
    pub(super) difference: &'a Difference,
}

/// Applies all conditions.
///
/// # Errors
///
/// If one is about no figure.
pub(super) fn judge<'a>(
    conditions: &'a [Condition],
    differences: &'a [Difference],
) -> anyhow::Result<Vec<Judgement<'a>>> {
    let mut judgements = Vec::new();
    for condition in conditions {
        let about = differences
            .iter()
            .filter(|difference| condition.is_about(difference));
        let before = judgements.len();
        judgements.extend(about.map(|difference| Judgement {
            condition,
            contestant: &difference.contestant,
            figure: &difference.figure,
            holds: condition.holds(difference),
            difference,
        }));
        if judgements.len() == before {
            let mut figures: Vec<_> = differences
                .iter()
                .map(|it| escaped(it.figure.as_bytes()))
                .collect();
            figures.sort_unstable();
            figures.dedup();
            let error =
                anyhow!("the condition `{condition}` names no figure that both studies have");
            return Err(hint(error, format!("they have {}", figures.join(", "))));
        }
    }
    Ok(judgements)
}

impl Judgement<'_> {
    /// `ordered: cold_s changed by +7.1 % (95 % interval +5.5 % to +8.8 %): cold > +5%`.
    pub(super) fn sentence(&self) -> String {
        let Self {
            difference,
            condition,
            ..
        } = self;
        let changed = changed(difference);
        let [contestant, figure] =
            [self.contestant, self.figure].map(|name| escaped(name.as_bytes()));
        format!("{contestant}: {figure} {changed}: {condition}")
    }
}

/// By how much, and how sure that is.
fn changed(difference: &Difference) -> String {
    let Some(found) = difference.relation.ratio else {
        return "cannot be compared".to_owned();
    };
    match difference.relation.interval {
        Some(sure) if sure.low < sure.high => format!(
            "changed by {} (95 % interval {} to {})",
            change(found),
            change(sure.low),
            change(sure.high)
        ),
        Some(_) => {
            let [base, new] = values(difference);
            format!("changed from {base} to {new}")
        }
        None => format!("has ratio {}, of too few runs", ratio(found)),
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference to the field"
)]
fn as_text<S: Serializer>(condition: &&Condition, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(condition)
}
