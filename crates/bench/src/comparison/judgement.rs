//! Conditions, each applied to each figure that it is about.

use coldpress_report::text::escaped;
use coldpress_report::units::{change, ratio};
use serde::{Serialize, Serializer};

use crate::condition::Condition;
use crate::difference::Difference;

/// A condition, applied to a figure of a contestant.
#[derive(Debug, Serialize)]
pub struct Judgement<'a> {
    /// The condition.
    #[serde(serialize_with = "as_text")]
    pub condition: &'a Condition,
    /// The contestant.
    pub contestant: &'a str,
    /// Its figure.
    pub figure: &'a str,
    /// Whether it holds; `None` if there are too few runs.
    pub holds: Option<bool>,
    /// What is judged.
    #[serde(skip)]
    pub difference: &'a Difference,
}

/// Applies all conditions.
///
/// # Errors
///
/// One that is about no figure.
pub(super) fn judge<'a>(
    conditions: &'a [Condition],
    differences: &'a [Difference],
) -> Result<Vec<Judgement<'a>>, &'a Condition> {
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
            return Err(condition);
        }
    }
    Ok(judgements)
}

impl Judgement<'_> {
    /// `ordered: cold_s changed by +7.1 % (95 % interval +5.5 % to +8.8 %): cold > +5%`.
    pub fn sentence(&self) -> String {
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
            let [base, new] = difference.values();
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
