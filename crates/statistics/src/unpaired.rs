//! Samples that were not made in turn.
//!
//! Two studies share no turns: each draws from its own samples. What disturbed the machine during
//! one of them alone is not in the interval, so a study is compared with another one only where the
//! machine is known to be the same.

use super::Ratio;
use super::bootstrap::{SEED, SplitMix64, median_of, percentiles, ratio_of};

/// Compares the samples of one study with those of another one, in one unit.
///
/// [`Ratio::turns`] is the number of samples of the side that has fewer.
///
/// Returns `None` if a side has no samples, or if a value is not above 0.
///
/// # Cost
///
/// As [`super::ratio`].
pub fn unpaired_ratio(baseline: &[f64], other: &[f64]) -> Option<Ratio> {
    let positive = |value: &f64| value.is_finite() && *value > 0.0;
    let fewer = baseline.len().min(other.len());
    if fewer == 0 || !baseline.iter().chain(other).all(positive) {
        return None;
    }
    let mut random = SplitMix64(SEED);
    let mut median_of_drawn = |samples: &[f64], drawn: &mut Vec<f64>| {
        drawn.clear();
        drawn.extend((0..samples.len()).map(|_| samples[random.below(samples.len())]));
        median_of(drawn)
    };
    let mut drawn = Vec::new();
    // The smaller side decides how much later the tails are cut: that is the cautious choice.
    let interval = percentiles(fewer, || {
        median_of_drawn(other, &mut drawn) / median_of_drawn(baseline, &mut drawn)
    });
    let (mut baseline, mut other) = (baseline.to_vec(), other.to_vec());
    let value = median_of(&mut other) / median_of(&mut baseline);
    Some(ratio_of(value, interval, fewer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::bootstrap::tests::noisy_start_s;

    fn verdicts(base_count: u32, other_count: u32, other_s: f64, trials: u32) -> Vec<Verdict> {
        let mut random = SplitMix64(u64::from(base_count));
        (0..trials)
            .map(|_| {
                let mut starts = |count: u32, center_s| -> Vec<f64> {
                    (0..count)
                        .map(|_| noisy_start_s(&mut random, center_s))
                        .collect()
                };
                let (baseline, other) = (starts(base_count, 1.0), starts(other_count, other_s));
                unpaired_ratio(&baseline, &other)
                    .expect("positive samples")
                    .verdict
            })
            .collect()
    }

    #[test]
    fn identical_contestants_are_rarely_called_different_and_slower_ones_are() {
        for (base_count, other_count) in [(6, 6), (10, 10), (20, 8)] {
            let all = verdicts(base_count, other_count, 1.0, 60);
            let wrong = all
                .iter()
                .filter(|verdict| **verdict != Verdict::NoDifferenceShown);
            let wrong = wrong.count();
            assert!(
                wrong <= 3,
                "{wrong} of 60 of {base_count} and {other_count} runs"
            );
        }
        let found = verdicts(20, 20, 1.4, 20);
        assert!(found.iter().all(|verdict| *verdict == Verdict::Slower));
    }

    #[test]
    fn sides_may_differ_in_length_and_too_few_give_no_verdict() {
        let ratio = unpaired_ratio(&[1.0; 5], &[2.0; 40]).expect("positive samples");
        assert_eq!((ratio.value, ratio.turns), (2.0, 5));
        assert_eq!(ratio.verdict, Verdict::NoDifferenceShown);
        let ratio = unpaired_ratio(&[1.0; 6], &[2.0; 40]).expect("positive samples");
        assert_eq!(ratio.verdict, Verdict::Slower);
        for (baseline, other) in [
            (&[][..], &[1.0][..]),
            (&[1.0], &[]),
            (&[0.0], &[1.0]),
            (&[1.0], &[f64::NAN]),
        ] {
            assert_eq!(unpaired_ratio(baseline, other), None);
        }
    }
}
