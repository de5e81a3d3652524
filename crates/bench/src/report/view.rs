//! A study with all that is computed from it: medians, quartiles, ratios, verdicts.

use std::collections::{BTreeMap, BTreeSet};

use coldpress_history::{Origin, Study};

use super::charts::Sample;
use crate::figure;
use crate::stats::{Ratio, Summary, median, outliers, ratio};

/// Times that are measured run by run, of which faster and slower can be said.
const JUDGED: [&str; 6] = [
    "cold_s", "warm_s", "walk_s", "boot_s", "build_s", "unpack_s",
];

/// A study and its figures.
pub(super) struct View<'a> {
    pub(super) study: &'a Study,
    /// By name, in the order of tables.
    pub(super) figures: Vec<(String, Vec<Finding>)>,
}

/// One figure of one contestant.
#[derive(Debug, Default)]
pub(super) struct Finding {
    /// The runs that count; none if the figure is that of the contestant.
    pub(super) samples: Vec<Sample>,
    pub(super) median: Option<f64>,
    /// Of times that have more than one sample.
    pub(super) summary: Option<Summary>,
    /// The median divided by that of the baseline.
    pub(super) share: Option<f64>,
    /// The same with an interval and a verdict; never of published figures.
    pub(super) ratio: Option<Ratio>,
}

impl<'a> View<'a> {
    /// # Cost
    ///
    /// Two bootstraps for each contestant and time.
    pub(super) fn new(study: &'a Study) -> View<'a> {
        let of_contestants = study.contestants.iter().map(|one| &one.figures);
        let of_runs = study.runs.iter().map(|run| &run.figures);
        let names: BTreeSet<&String> = of_contestants
            .chain(of_runs)
            .flat_map(BTreeMap::keys)
            .collect();
        let mut names: Vec<&String> = names.into_iter().collect();
        names.sort_by_key(|name| figure::place(name));
        let figures = names.into_iter();
        View {
            study,
            figures: figures
                .map(|name| (name.clone(), findings(study, name)))
                .collect(),
        }
    }

    /// What all contestants have of a figure; nothing if nobody measured it.
    pub(super) fn figure(&self, name: &str) -> &[Finding] {
        let found = self.figures.iter().find(|(known, _)| known == name);
        found.map_or(&[], |(_, findings)| findings.as_slice())
    }

    /// Whether there is something to show of a figure.
    pub(super) fn has(&self, name: &str) -> bool {
        self.figure(name).iter().any(|one| one.median.is_some())
    }

    /// Whether a figure has several runs of a contestant, so that their spread can be shown.
    pub(super) fn has_spread(&self, name: &str) -> bool {
        self.figure(name).iter().any(|one| one.samples.len() > 1)
    }

    /// Whether the figures are somebody else's.
    pub(super) fn is_published(&self) -> bool {
        matches!(self.study.origin, Origin::Published { .. })
    }

    /// Whether the contestants are of several things, each with a baseline of its own.
    pub(super) fn has_several_baselines(&self) -> bool {
        let mut baselines =
            (0..self.study.contestants.len()).map(|index| self.study.baseline(index));
        let first = baselines.next();
        baselines.any(|other| Some(other) != first)
    }

    pub(super) fn name(&self, contestant: usize) -> &str {
        let found = self.study.contestants.get(contestant);
        found.map_or("?", |found| &found.name)
    }
}

fn findings(study: &Study, name: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> = study
        .contestants
        .iter()
        .map(|_| Finding::default())
        .collect();
    for run in study.runs.iter().filter(|run| run.excluded.is_none()) {
        let value = run.figures.get(name).filter(|value| value.is_finite());
        if let (Some(value), Some(finding)) = (value, findings.get_mut(run.contestant)) {
            finding.samples.push(Sample {
                turn: run.turn,
                value: *value,
                is_outlier: false,
            });
        }
    }
    let is_judged = JUDGED.contains(&name);
    for (finding, contestant) in findings.iter_mut().zip(&study.contestants) {
        let values: Vec<f64> = finding.samples.iter().map(|sample| sample.value).collect();
        finding.median = median(&values).or(contestant.figures.get(name).copied());
        if is_judged {
            finding.summary = Summary::new(&values);
            for (sample, is_outlier) in finding.samples.iter_mut().zip(outliers(&values)) {
                sample.is_outlier = is_outlier;
            }
        }
    }
    let baselines = (0..findings.len()).map(|index| baseline(study, &findings, index));
    let baselines: Vec<Option<usize>> = baselines.collect();
    let is_judged = is_judged && study.origin == Origin::Measured;
    for (index, baseline) in baselines.into_iter().enumerate() {
        let Some(baseline) = baseline.and_then(|baseline| findings.get(baseline)) else {
            continue;
        };
        let Some(other) = findings.get(index) else {
            continue;
        };
        let (share, ratio) = compared(baseline, other, is_judged);
        if let Some(other) = findings.get_mut(index) {
            (other.share, other.ratio) = (share, ratio);
        }
    }
    findings
}

/// With which contestant another one is compared; `None` for a baseline. One that lacks the figure
/// cannot be it: of building and unpacking, which different contestants do, each has its own, among
/// those of the same baseline.
fn baseline(study: &Study, findings: &[Finding], index: usize) -> Option<usize> {
    let has = |index: usize| findings.get(index).is_some_and(|one| one.median.is_some());
    let named = study.baseline(index);
    let baseline = if has(named) {
        named
    } else {
        let is_alike = |other: &usize| study.baseline(*other) == named && has(*other);
        (0..findings.len()).find(is_alike)?
    };
    (baseline != index).then_some(baseline)
}

/// The share of the baseline, and with an interval and a verdict.
fn compared(baseline: &Finding, other: &Finding, is_judged: bool) -> (Option<f64>, Option<Ratio>) {
    let medians = other.median.zip(baseline.median);
    let share = medians
        .filter(|(_, before)| *before > 0.0)
        .map(|(after, before)| after / before);
    if !is_judged {
        return (share, None);
    }
    let turns = baseline.samples.iter();
    let turns: BTreeMap<u32, f64> = turns.map(|sample| (sample.turn, sample.value)).collect();
    let pair = |sample: &Sample| Some((*turns.get(&sample.turn)?, sample.value));
    let pairs: Vec<(f64, f64)> = other.samples.iter().filter_map(pair).collect();
    (share, ratio(&pairs))
}

#[cfg(test)]
mod tests {
    use coldpress_history::{Contestant, Figures, Kind, Run, State};

    use super::*;
    use crate::stats::Verdict;

    fn study(origin: Origin) -> Study {
        let run = |contestant: usize, turn: u32| Run {
            contestant,
            turn,
            excluded: (turn == 9).then(|| "it failed".to_owned()),
            figures: Figures::from([
                (
                    "cold_s".to_owned(),
                    if contestant == 0 { 2.0 } else { 1.0 } + f64::from(turn % 3) / 50.0,
                ),
                ("reads".to_owned(), 100.0),
            ]),
        };
        Study {
            kind: Kind::Launch,
            title: "a start".to_owned(),
            began_unix_ms: 0,
            origin,
            state: State::Done,
            facts: [].into(),
            contestants: ["plain", "ordered"]
                .map(|name| Contestant {
                    name: name.to_owned(),
                    figures: Figures::from([("size_bytes".to_owned(), 100.0)]),
                    ..Contestant::default()
                })
                .to_vec(),
            runs: (0..10)
                .flat_map(|turn| [run(0, turn), run(1, turn), run(7, turn)])
                .collect(),
        }
    }

    #[test]
    fn figures_of_runs_and_contestants_stand_in_the_order_of_tables() {
        let study = study(Origin::Measured);
        let view = View::new(&study);
        let names: Vec<&str> = view.figures.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["size_bytes", "cold_s", "reads"]);
        let cold = view.figure("cold_s");
        assert_eq!(cold[0].samples.len(), 9, "the excluded run does not count");
        let verdict = cold[1].ratio.expect("turns of both").verdict;
        assert_eq!(verdict, Verdict::Faster);
        assert!(cold[0].ratio.is_none());
        assert_eq!(view.figure("size_bytes")[1].share, Some(1.0));
        assert!(view.has_spread("cold_s") && !view.has_spread("size_bytes"));
        assert!(!view.has("boot_s"));
    }

    #[test]
    fn published_figures_have_shares_and_no_verdict() {
        let study = study(Origin::Published {
            citation: "a paper".to_owned(),
        });
        let view = View::new(&study);
        let cold = &view.figure("cold_s")[1];
        assert!(cold.ratio.is_none() && cold.share.is_some());
    }
}
