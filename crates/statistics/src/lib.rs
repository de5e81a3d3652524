//! Figures from few and noisy samples: medians, quartiles, intervals, verdicts.
//!
//! Start times on a shared machine are skewed and have outliers, so nothing here assumes a
//! distribution: the center is the median, the spread the quartiles, and every interval comes from
//! resampling the samples themselves ([`ratio`]). Outliers are shown, never removed; what is
//! left out is left out by the runner, run by run and with a reason.

mod bootstrap;
mod outliers;
mod unpaired;

pub use bootstrap::{
    CONFIDENCE, Interval, RESAMPLES, Ratio, SplitMix64, TURNS_FOR_VERDICT, Verdict, ratio,
};
pub use outliers::outliers;
pub use unpaired::unpaired_ratio;

use serde::{Deserialize, Serialize};

/// The center and the spread of the samples of one contestant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of samples.
    pub count: usize,
    /// The smallest sample.
    pub min: f64,
    /// A quarter of the samples lie below ([`quantile`]).
    pub lower_quartile: f64,
    /// The middle sample, or the mean of the two middle ones.
    pub median: f64,
    /// A quarter of the samples lie above.
    pub upper_quartile: f64,
    /// The largest sample.
    pub max: f64,
    /// Bootstrap confidence interval of the median, at [`CONFIDENCE`].
    pub interval: Interval,
}

impl Summary {
    /// Summarizes `samples`, in any order; `None` if there are none.
    ///
    /// # Cost
    ///
    /// [`RESAMPLES`] medians of `samples.len()` values: a few milliseconds for ten samples.
    pub fn new(samples: &[f64]) -> Option<Summary> {
        let sorted = sorted(samples);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        Some(Summary {
            count: sorted.len(),
            min,
            lower_quartile: quantile(&sorted, 0.25),
            median: quantile(&sorted, 0.5),
            upper_quartile: quantile(&sorted, 0.75),
            max,
            interval: bootstrap::median_interval(&sorted),
        })
    }
}

/// The median of `samples`, in any order; `None` if there are none.
pub fn median(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| quantile(&sorted(samples), 0.5))
}

/// The value below which the share `share` (0 to 1) of `sorted` lies.
///
/// Linear interpolation between the two neighboring samples: type 7 of Hyndman and Fan, "Sample
/// Quantiles in Statistical Packages" (1996), the default of R and of `NumPy`.
///
/// # Panics
///
/// If `sorted` is empty.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "sample counts are far below 2^52"
    )]
    let place = (sorted.len() - 1) as f64 * share.clamp(0.0, 1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place is at least 0 and at most the last index"
    )]
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * place.fract()
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_known_samples_are_as_computed_by_hand() {
        // The values of R's `quantile(x, type = 7)`.
        let cases: [(&[f64], [f64; 5]); 4] = [
            (&[7.0], [7.0, 7.0, 7.0, 7.0, 7.0]),
            (&[4.0, 1.0], [1.0, 1.75, 2.5, 3.25, 4.0]),
            (&[5.0, 1.0, 4.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0, 5.0]),
            (
                &[1.0, 2.0, 3.0, 4.0, 5.0, 100.0],
                [1.0, 2.25, 3.5, 4.75, 100.0],
            ),
        ];
        for (samples, expected) in cases {
            let summary = Summary::new(samples).expect("samples");
            let found = [
                summary.min,
                summary.lower_quartile,
                summary.median,
                summary.upper_quartile,
                summary.max,
            ];
            let close = |(found, expected): (&f64, &f64)| (found - expected).abs() < 1e-12;
            assert!(
                found.iter().zip(&expected).all(close),
                "{found:?} for {samples:?}"
            );
            assert_eq!(summary.count, samples.len());
            assert_eq!(median(samples), Some(summary.median));
        }
    }

    #[test]
    fn no_samples_give_no_summary() {
        assert_eq!(Summary::new(&[]), None);
        assert_eq!(median(&[]), None);
    }
}
