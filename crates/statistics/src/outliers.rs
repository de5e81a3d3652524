//! Samples far from the others. They are named, and kept.

use super::{quantile, sorted};

/// How far beyond the quartiles a sample is called an outlier, in interquartile ranges: "far out"
/// in Tukey, "Exploratory Data Analysis" (1977).
const FAR: f64 = 3.0;

/// Quartiles of fewer samples say little about what is far from them.
const SAMPLES_MIN: usize = 5;

/// For each of `samples`, in any order, whether it lies far beyond the quartiles of all.
pub fn outliers(samples: &[f64]) -> Vec<bool> {
    if samples.len() < SAMPLES_MIN {
        return vec![false; samples.len()];
    }
    let sorted = sorted(samples);
    let (lower, upper) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
    let far = (upper - lower) * FAR;
    let is_far = |sample: &f64| *sample < lower - far || *sample > upper + far;
    samples.iter().map(is_far).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_three_interquartile_ranges_beyond_is_an_outlier() {
        let cases: [(&[f64], usize); 5] = [
            (&[], 0),
            (&[1.0, 1.0, 1.0, 900.0], 0),
            (&[1.0, 2.0, 3.0, 4.0, 5.0], 0),
            (&[1.0, 2.0, 3.0, 4.0, 5.0, 12.0], 0),
            (&[100.0, 1.0, 2.0, 3.0, 4.0, 5.0, -90.0], 2),
        ];
        for (samples, expected) in cases {
            let found = outliers(samples).into_iter().filter(|is| *is).count();
            assert_eq!(found, expected, "{samples:?}");
        }
    }
}
