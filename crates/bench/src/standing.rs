//! Where the contestants of one study stand, figure by figure.

use std::collections::{BTreeMap, BTreeSet};

use coldpress_history::{Run, Study};
use serde::Serialize;

use crate::figure::is_setting;
use crate::relation::{Relation, is_exact};
use crate::stats::{Ratio, Summary, ratio};

/// One figure of one contestant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Name of the figure.
    pub figure: String,
    /// Name of the contestant.
    pub contestant: String,
    /// Whether all runs share it.
    pub is_own: bool,
    /// Its center and spread.
    pub summary: Summary,
    /// The figure divided by that of the baseline, over the turns in which both count; `None` for a
    /// baseline, and if it has no such figure, or it says what the contestant is: nobody wants to
    /// hear that larger blocks are larger.
    pub versus: Option<Relation>,
}

/// All figures of a study by name, those of the contestants in their order.
///
/// # Cost
///
/// Two bootstraps for each figure of each contestant ([`Summary::new`], [`ratio`]).
pub fn standings(study: &Study) -> Vec<Standing> {
    let own = study
        .contestants
        .iter()
        .map(|contestant| &contestant.figures);
    let of_runs = study.runs.iter().filter(|run| run.excluded.is_none());
    let figures: BTreeSet<&String> = own
        .chain(of_runs.map(|run| &run.figures))
        .flat_map(|figures| figures.keys())
        .collect();
    let contestants = 0..study.contestants.len();
    let places = figures.into_iter().flat_map(|figure| {
        contestants
            .clone()
            .map(move |contestant| (figure, contestant))
    });
    places
        .filter_map(|(figure, contestant)| standing(study, figure, contestant))
        .collect()
}

fn standing(study: &Study, figure: &str, index: usize) -> Option<Standing> {
    let contestant = study.contestants.get(index)?;
    let own = |index: usize| study.contestants.get(index)?.figures.get(figure).copied();
    let baseline = study.baseline(index);
    let values = own(index).map_or_else(|| study.values(index, figure), |value| vec![value]);
    let versus = match (own(baseline), own(index)) {
        _ if baseline == index || is_setting(figure) => None,
        (Some(base), Some(value)) if is_exact(figure) => Some(Relation::exact(base, value)),
        (Some(base), Some(value)) => Some(Relation::sampled(ratio(&[(base, value)]))),
        _ => {
            let pairs = pairs(study, figure, baseline, index);
            (!pairs.is_empty()).then(|| Relation::sampled(ratio(&pairs)))
        }
    };
    Some(Standing {
        figure: figure.to_owned(),
        contestant: contestant.name.clone(),
        is_own: own(index).is_some(),
        summary: Summary::new(&values)?,
        versus,
    })
}

/// A figure of one contestant divided by that of another, by their names, turn by turn; `None` if
/// one of them is not there or has no such figure.
///
/// # Cost
///
/// Two bootstraps.
pub fn versus(study: &Study, figure: &str, base: &str, other: &str) -> Option<Ratio> {
    let index = |name: &str| {
        let mut contestants = study.contestants.iter();
        contestants.position(|contestant| contestant.name == name)
    };
    ratio(&pairs(study, figure, index(base)?, index(other)?))
}

/// One (baseline, other) for each turn in which both count.
pub(crate) fn pairs(study: &Study, figure: &str, baseline: usize, other: usize) -> Vec<(f64, f64)> {
    let value = |run: &Run| Some((run.turn, *run.figures.get(figure)?));
    let of_baseline: BTreeMap<u32, f64> = study.counted(baseline).filter_map(value).collect();
    let pair = |(turn, value)| Some((*of_baseline.get(&turn)?, value));
    study
        .counted(other)
        .filter_map(value)
        .filter_map(pair)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::tests::study;

    #[test]
    fn contestants_are_compared_with_their_baselines_turn_by_turn() {
        // Each turn is slower than the one before, which is no reason to doubt the ratio.
        let starts: Vec<f64> = (1..=8).map(f64::from).collect();
        let halves: Vec<f64> = starts.iter().map(|start_s| start_s / 2.0).collect();
        let mut study = study(&[("a", 100.0, &starts), ("b", 90.0, &halves), ("c", 0.0, &[])]);
        study.runs[0].excluded = Some("it failed".to_owned());
        study.contestants[2]
            .facts
            .insert("baseline".to_owned(), "b".to_owned());
        let found = standings(&study);
        let told: Vec<_> = found
            .iter()
            .map(|it| {
                let verdict = it.versus.map(|versus| versus.verdict(&it.figure));
                (
                    it.figure.as_str(),
                    it.contestant.as_str(),
                    it.summary.count,
                    verdict,
                )
            })
            .collect();
        let expected = [
            ("cold_s", "a", 7, None),
            ("cold_s", "b", 8, Some("faster")),
            ("size_bytes", "a", 1, None),
            ("size_bytes", "b", 1, Some("smaller")),
            ("size_bytes", "c", 1, Some("smaller")),
        ];
        assert_eq!(told, expected);
        assert_eq!(found[1].versus.and_then(|versus| versus.ratio), Some(0.5));
    }

    #[test]
    fn a_setting_is_told_and_not_judged() {
        let mut study = study(&[("a", 100.0, &[]), ("b", 90.0, &[])]);
        for (contestant, bytes) in study.contestants.iter_mut().zip([131_072.0, 1_048_576.0]) {
            let figures = &mut contestant.figures;
            figures.insert("block_size_bytes".to_owned(), bytes);
        }
        let found = standings(&study);
        let judged = |name: &str| {
            let mut of_name = found.iter().filter(|it| it.figure == name);
            of_name.any(|it| it.versus.is_some())
        };
        assert!(found.iter().any(|it| it.figure == "block_size_bytes"));
        assert!(judged("size_bytes") && !judged("block_size_bytes"));
    }
}
