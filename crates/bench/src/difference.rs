//! What two studies of the same contestants differ in.

use std::collections::BTreeSet;

use coldpress_history::{Contestant, Study};
use serde::Serialize;

use crate::relation::{Relation, is_exact};
use crate::stats::{median, unpaired_ratio};

/// One figure of one contestant, in an older study and in a newer one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Name of the contestant.
    pub contestant: String,
    /// Name of the figure.
    pub figure: String,
    /// Median of the older study.
    pub base: f64,
    /// Median of the newer study.
    pub new: f64,
    /// The newer one divided by the older one.
    #[serde(flatten)]
    pub relation: Relation,
}

impl Difference {
    /// What can be said of the newer study, as a word or two.
    pub fn verdict(&self) -> &'static str {
        self.relation.verdict(&self.figure)
    }
}

/// The figures that both studies have of contestants with the same name, in the order of the older
/// study.
///
/// # Cost
///
/// A bootstrap for each figure ([`unpaired_ratio`]).
pub fn differences(base: &Study, new: &Study) -> Vec<Difference> {
    let named = |study: &Study, name: &str| study.contestants.iter().position(|it| it.name == name);
    let mut differences = Vec::new();
    for (index, contestant) in base.contestants.iter().enumerate() {
        let is_first = named(base, &contestant.name) == Some(index);
        let Some(other) = named(new, &contestant.name).filter(|_| is_first) else {
            continue;
        };
        let others = figures(new, other);
        for figure in figures(base, index).intersection(&others) {
            let samples = [
                Samples::of(base, index, figure),
                Samples::of(new, other, figure),
            ];
            differences.extend(difference(&contestant.name, figure, &samples));
        }
    }
    differences
}

/// Contestants that only one of the studies has.
pub fn unmatched<'a>(base: &'a Study, new: &'a Study) -> Vec<&'a str> {
    let names = |study: &'a Study| -> BTreeSet<&'a str> {
        study
            .contestants
            .iter()
            .map(|contestant| contestant.name.as_str())
            .collect()
    };
    names(base)
        .symmetric_difference(&names(new))
        .copied()
        .collect()
}

/// Names of all figures of a contestant and of its runs that count.
fn figures(study: &Study, contestant: usize) -> BTreeSet<String> {
    let own = study
        .contestants
        .get(contestant)
        .map(|contestant| &contestant.figures);
    let of_runs = study.counted(contestant).map(|run| &run.figures);
    own.into_iter()
        .chain(of_runs)
        .flat_map(|figures| figures.keys().cloned())
        .collect()
}

/// The values of one figure of one contestant.
struct Samples {
    values: Vec<f64>,
    is_exact: bool,
}

impl Samples {
    fn of(study: &Study, index: usize, figure: &str) -> Samples {
        let own = |contestant: &Contestant| contestant.figures.get(figure).copied();
        match study.contestants.get(index).and_then(own) {
            Some(value) => Samples {
                values: vec![value],
                is_exact: is_exact(figure),
            },
            None => Samples {
                values: study.values(index, figure),
                is_exact: false,
            },
        }
    }
}

fn difference(contestant: &str, figure: &str, [base, new]: &[Samples; 2]) -> Option<Difference> {
    let medians = [median(&base.values)?, median(&new.values)?];
    let relation = if base.is_exact && new.is_exact {
        Relation::exact(medians[0], medians[1])
    } else {
        Relation::sampled(unpaired_ratio(&base.values, &new.values))
    };
    Some(Difference {
        contestant: contestant.to_owned(),
        figure: figure.to_owned(),
        base: medians[0],
        new: medians[1],
        relation,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use coldpress_history::{Figures, Kind, Origin, Run, State};

    use super::*;
    use crate::stats::Interval;

    /// A study with one contestant for each name, size and list of cold starts.
    pub(crate) fn study(contestants: &[(&str, f64, &[f64])]) -> Study {
        let figures = |name: &str, value| Figures::from([(name.to_owned(), value)]);
        let runs = contestants
            .iter()
            .enumerate()
            .flat_map(|(contestant, (_, _, starts))| {
                starts.iter().zip(0..).map(move |(cold_s, turn)| Run {
                    contestant,
                    turn,
                    excluded: None,
                    figures: figures("cold_s", *cold_s),
                })
            });
        Study {
            kind: Kind::Launch,
            title: "starts".to_owned(),
            began_unix_ms: 0,
            origin: Origin::Measured,
            state: State::Done,
            facts: [].into(),
            contestants: contestants
                .iter()
                .map(|(name, size_bytes, _)| Contestant {
                    name: (*name).to_owned(),
                    facts: [].into(),
                    figures: figures("size_bytes", *size_bytes),
                })
                .collect(),
            runs: runs.collect(),
        }
    }

    #[test]
    fn what_both_studies_have_is_compared_by_name() {
        let starts = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 1.02];
        let slower = starts.map(|start_s| start_s * 1.5);
        let base = study(&[
            ("a", 100.0, &starts),
            ("gone", 1.0, &starts),
            ("b", 100.0, &starts[..5]),
        ]);
        let new = study(&[
            ("b", 100.0, &slower),
            ("new", 1.0, &starts),
            ("a", 90.0, &slower),
        ]);
        let found = differences(&base, &new);
        let told: Vec<_> = found
            .iter()
            .map(|it| (it.contestant.as_str(), it.figure.as_str(), it.verdict()))
            .collect();
        let expected = [
            ("a", "cold_s", "slower"),
            ("a", "size_bytes", "smaller"),
            ("b", "cold_s", "too few runs"),
            ("b", "size_bytes", "the same"),
        ];
        assert_eq!(told, expected);
        assert_eq!(
            found[1].relation.interval,
            Some(Interval {
                low: 0.9,
                high: 0.9
            })
        );
        assert_eq!(found[2].relation.interval, None);
        assert_eq!(unmatched(&base, &new), ["gone", "new"]);
        let same = differences(&base, &base);
        assert!(
            same.iter()
                .all(|it| ["no difference shown", "the same", "too few runs"]
                    .contains(&it.verdict()))
        );
    }
}
