//! Confidence intervals by resampling: the percentile bootstrap.
//!
//! What would the median have been with other luck? Draw as many samples as there are, with
//! replacement, from those that there are; take their median; repeat [`RESAMPLES`] times; the
//! middle [`CONFIDENCE`] of these medians is the interval (Efron, "Bootstrap Methods", 1979).
//!
//! With few samples that interval is too narrow: of simulated comparisons of identical images with
//! 6 to 8 turns, 5 to 7 % ended in a verdict. The tails are therefore cut later the fewer samples
//! there are, as Hesterberg proposes ("What Teachers Should Know About the Bootstrap", 2015,
//! "expanded percentile interval"); then 1 to 3 % did.
//!
//! A ratio of two contestants is the median of the ratios of their *turns*, and turns are drawn:
//! both starts of a turn happened within seconds of each other, and what disturbed the machine then
//! disturbed both. The ratio of the two medians was rejected: of simulated comparisons of 30 turns
//! with a machine that drifts by 15 % between turns, it found a slowdown of 5 % in half, the median
//! of the ratios in 88 of 100 where starts scatter by 4 %, and in 95 and more where they scatter by
//! 3 %.
//!
//! The generator is seeded with a constant, so the same samples give the same interval.

use std::fmt;

use serde::{Deserialize, Serialize};

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::quantile;

/// How often samples are redrawn: the ends of an interval rest on the outermost 250 or less.
pub const RESAMPLES: usize = 10_000;

/// How often the true value should lie in an interval.
pub const CONFIDENCE: f64 = 0.95;

/// Fewer turns than this give no verdict.
///
/// The bootstrap of n turns cannot look beyond the extremes of n samples, so its narrowest claim is
/// "won every time". Of two identical images one wins five times of five in 1 of 16 comparisons,
/// too often for [`CONFIDENCE`]; six times of six in 1 of 32.
pub const TURNS_FOR_VERDICT: usize = 6;

pub(crate) const SEED: u64 = 0x636f_6c64_7072_6573;

/// A confidence interval at [`CONFIDENCE`], in the unit of its samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What an interval of a ratio of times allows to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval lies below 1.
    Faster,
    /// The whole interval lies above 1.
    Slower,
    /// The interval contains 1, or there were fewer than [`TURNS_FOR_VERDICT`] turns.
    NoDifferenceShown,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NoDifferenceShown => "no difference shown",
        })
    }
}

/// How one contestant stands to the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The median of the ratios of the turns in which both were counted.
    pub value: f64,
    /// Bootstrap confidence interval of [`Ratio::value`], drawing turns.
    pub interval: Interval,
    /// What the interval allows to say.
    pub verdict: Verdict,
    /// Number of turns in which both were counted.
    pub turns: usize,
}

/// Compares two contestants turn by turn.
///
/// * `pairs`: one (baseline, other) for each turn in which both were counted, in one unit.
///
/// Returns `None` without pairs, or if a value is not above 0.
///
/// # Cost
///
/// Twice [`RESAMPLES`] medians of `pairs.len()` values.
pub fn ratio(pairs: &[(f64, f64)]) -> Option<Ratio> {
    let positive = |value: f64| value.is_finite() && value > 0.0;
    if pairs.is_empty()
        || !pairs
            .iter()
            .all(|pair| positive(pair.0) && positive(pair.1))
    {
        return None;
    }
    let mut ratios: Vec<f64> = pairs.iter().map(|pair| pair.1 / pair.0).collect();
    let interval = median_interval(&ratios);
    Some(ratio_of(median_of(&mut ratios), interval, pairs.len()))
}

/// A ratio with what its interval allows to say.
pub(crate) fn ratio_of(value: f64, interval: Interval, turns: usize) -> Ratio {
    let verdict = if turns < TURNS_FOR_VERDICT {
        Verdict::NoDifferenceShown
    } else if interval.high < 1.0 {
        Verdict::Faster
    } else if interval.low > 1.0 {
        Verdict::Slower
    } else {
        Verdict::NoDifferenceShown
    };
    Ratio {
        value,
        interval,
        verdict,
        turns,
    }
}

/// The interval of the median of `samples`, which must not be empty.
pub(crate) fn median_interval(samples: &[f64]) -> Interval {
    let mut random = SplitMix64(SEED);
    let mut drawn = vec![0.0; samples.len()];
    percentiles(samples.len(), || {
        drawn.fill_with(|| samples[random.below(samples.len())]);
        median_of(&mut drawn)
    })
}

pub(crate) fn percentiles(sample_count: usize, mut statistic: impl FnMut() -> f64) -> Interval {
    let mut drawn: Vec<f64> = (0..RESAMPLES).map(|_| statistic()).collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let tail = tail_share(sample_count);
    Interval {
        low: quantile(&drawn, tail),
        high: quantile(&drawn, 1.0 - tail),
    }
}

/// The share of the redrawn medians to leave out at each end: Phi(-sqrt(n / (n - 1)) t(n - 1)).
///
/// For normal samples this makes the interval as wide as that of Student; it tends to 2.5 %.
fn tail_share(sample_count: usize) -> f64 {
    if sample_count < 2 {
        return 0.0;
    }
    let samples = f64::from(u32::try_from(sample_count).unwrap_or(u32::MAX));
    let student = StudentsT::new(0.0, 1.0, samples - 1.0).expect("1 degree of freedom or more");
    let t = student.inverse_cdf(f64::midpoint(1.0, CONFIDENCE));
    Normal::standard().cdf(-(samples / (samples - 1.0)).sqrt() * t)
}

/// The same as [`quantile`] of half, without sorting all.
pub(crate) fn median_of(samples: &mut [f64]) -> f64 {
    let middle = samples.len() / 2;
    let (below, upper, above) = samples.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if below.len() == above.len() {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower + (upper - lower) * 0.5
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next 64 bits.
    #[expect(clippy::should_implement_trait, reason = "it has no end")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// An index below `count`. The high half of a 128-bit product (Lemire 2019): its bias is
    /// `count` / 2^64.
    pub fn below(&mut self, count: usize) -> usize {
        let product = u128::from(self.next()) * (count as u128);
        usize::try_from(product >> 64).expect("the high half is below the count")
    }

    /// Puts items into random order: Fisher and Yates, in Durstenfeld's form (1964).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
