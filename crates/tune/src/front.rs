//! The compromises that are worth considering.

use std::cmp::Ordering;

use crate::outcome::{Outcome, TRADED};

/// By how much a prediction must be better to count as better: start, size, build time, memory,
/// page cache. Sizes are predicted within 1 %, and of two candidates the errors go the same way;
/// build times and memory are estimates.
const TOLERANCE: [f64; TRADED] = [0.02, 0.005, 0.1, 0.1, 0.05];

/// Tells of each outcome whether it is on the front. One that is not is beaten by one that is: that
/// is as good in every figure, as far as predictions tell, and better in one.
///
/// With five figures nearly everything would be on an exact front, for differences that no
/// prediction can tell. Small differences add up, so being better is not handed on from one to the
/// next: those that are better all in all are taken first, and the result does not depend on the
/// order of the outcomes.
///
/// # Cost
///
/// Compares each outcome with those on the front.
pub fn front(outcomes: &[Outcome]) -> Vec<bool> {
    let mut places: Vec<usize> = (0..outcomes.len()).collect();
    places.sort_by(|&a, &b| merit(&outcomes[a]).total_cmp(&merit(&outcomes[b])));
    let mut is_front = vec![false; outcomes.len()];
    let mut front: Vec<&Outcome> = Vec::new();
    for place in places {
        let outcome = &outcomes[place];
        if !front.iter().any(|other| beats(other, outcome)) {
            is_front[place] = true;
            front.push(outcome);
        }
    }
    is_front
}

/// The product of all figures, as a logarithm.
fn merit(outcome: &Outcome) -> f64 {
    // Nothing of something is as good as very little.
    let figures = outcome.traded().into_iter();
    figures.map(|value| value.max(1e-9).ln()).sum()
}

fn beats(one: &Outcome, other: &Outcome) -> bool {
    let mut is_better = false;
    let figures = one.traded().into_iter().zip(other.traded());
    for ((one, other), tolerance) in figures.zip(TOLERANCE) {
        match differs(one, other, tolerance) {
            Ordering::Greater => return false,
            Ordering::Less => is_better = true,
            Ordering::Equal => {}
        }
    }
    is_better
}

/// How one figure compares with another, where small differences are none.
pub(crate) fn differs(one: f64, other: f64, tolerance: f64) -> Ordering {
    let factor = 1.0 + tolerance;
    if one > other * factor {
        Ordering::Greater
    } else if one * factor < other {
        Ordering::Less
    } else {
        Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::tests::outcome;

    #[test]
    fn what_another_beats_is_left_out() {
        let base = outcome(1.0, 1000, 10.0, 100, 100);
        for (what, other, expected) in [
            ("equal", base.clone(), [true, true]),
            (
                "slower",
                Outcome {
                    start_s: 1.1,
                    ..base.clone()
                },
                [true, false],
            ),
            (
                "slower by less than is known",
                Outcome {
                    start_s: 1.01,
                    ..base.clone()
                },
                [true, true],
            ),
            (
                "slower but smaller",
                Outcome {
                    start_s: 1.1,
                    size_bytes: 900,
                    ..base.clone()
                },
                [true, true],
            ),
            (
                "slower by nothing and smaller",
                Outcome {
                    start_s: 1.01,
                    size_bytes: 900,
                    ..base.clone()
                },
                [false, true],
            ),
            (
                "slower to build by little and smaller by little",
                Outcome {
                    build_s: 10.9,
                    size_bytes: 990,
                    ..base.clone()
                },
                [true, true],
            ),
            (
                "worse in all",
                outcome(2.0, 2000, 20.0, 200, 200),
                [true, false],
            ),
            (
                "with an empty page cache",
                Outcome {
                    page_cache_bytes: 0,
                    ..base.clone()
                },
                [false, true],
            ),
        ] {
            assert_eq!(front(&[base.clone(), other.clone()]), expected, "{what}");
            let mut turned = front(&[other, base.clone()]);
            turned.reverse();
            assert_eq!(turned, expected, "{what}, turned");
        }
        assert!(front(&[]).is_empty());
    }

    /// What makes a front: all that is left out is beaten by one that is not.
    #[test]
    fn each_that_is_left_out_is_beaten() {
        // A generator of Lehmer's; few values, so that many are nearly equal.
        let mut state = 1_u64;
        let mut random = || {
            state = state * 48_271 % 0x7fff_ffff;
            100 + state % 7
        };
        for count in 0..60 {
            let outcomes: Vec<Outcome> = (0..count)
                .map(|_| {
                    #[expect(clippy::cast_precision_loss, reason = "numbers below 107")]
                    let [start_s, build_s] = [random() as f64, random() as f64];
                    outcome(start_s, random(), build_s, random(), random())
                })
                .collect();
            let on_front = front(&outcomes);
            assert!(count == 0 || on_front.contains(&true));
            for (outcome, is_front) in outcomes.iter().zip(&on_front) {
                let mut kept = outcomes.iter().zip(&on_front).filter(|(_, kept)| **kept);
                let is_beaten = kept.any(|(other, _)| beats(other, outcome));
                assert!(*is_front || is_beaten, "{outcome:?} of {outcomes:?}");
            }
        }
    }
}
