//! How far a curve may be off.
//!
//! The error is estimated from how much neighboring samples differ, which systematic samples of an
//! ordered list seldom reach (Wolter 2007, "Introduction to Variance Estimation", chapter 8).

use super::curve::real;
use super::ranking::Ranking;

/// The blocks that a sample stands for.
pub(super) struct Stratum {
    /// What they take with the proxy, about.
    bytes: f64,
    /// The same of all but the sample.
    unseen_bytes: f64,
    /// What the sample takes for each such byte.
    ratio: f64,
}

/// * `ranks`: of the samples.
/// * `firsts`: for each the first rank that it stands for.
/// * `samples`: for each its ratio, and what the proxy makes of a byte that the fast compressor
///   made.
pub(super) fn strata(
    ranking: &Ranking,
    ranks: &[usize],
    firsts: &[usize],
    samples: impl Iterator<Item = (f64, f64)>,
) -> Vec<Stratum> {
    let ends = firsts
        .iter()
        .skip(1)
        .map(|first| ranking.start_bytes(*first));
    let ends = ends.chain([ranking.total_bytes()]);
    let bounds = firsts.iter().zip(ends).zip(ranks).zip(samples);
    bounds
        .map(|(((first, end_bytes), rank), (ratio, scale))| {
            let bytes = end_bytes - ranking.start_bytes(*first);
            let sample_bytes = ranking.start_bytes(rank + 1) - ranking.start_bytes(*rank);
            Stratum {
                bytes: real(bytes) * scale,
                unseen_bytes: real(bytes - sample_bytes) * scale,
                ratio,
            }
        })
        .collect()
}

/// The square of the standard error. That the blocks of a stratum differ from its sample as much as
/// the neighbors of that do is the assumption.
pub(super) fn variance(strata: &[Stratum]) -> f64 {
    let of_stratum = |(place, stratum): (usize, &Stratum)| {
        let neighbors = [place.checked_sub(1), Some(place + 1)];
        let neighbors = neighbors
            .into_iter()
            .flatten()
            .filter_map(|at| strata.get(at));
        let squares = neighbors.map(|other| (other.ratio - stratum.ratio).powi(2));
        let (sum, count) = squares.fold((0.0, 0.0), |(sum, count), square| {
            (sum + square, count + 1.0)
        });
        // The difference of two independent values has twice the variance of one.
        let of_one: f64 = if count > 0.0 {
            sum / (2.0 * count)
        } else {
            0.0
        };
        of_one * stratum.bytes * stratum.unseen_bytes
    };
    strata.iter().enumerate().map(of_stratum).sum()
}

/// What all blocks take for each byte that they take with the proxy; 0 of none.
pub(super) fn mean_ratio(strata: &[Stratum]) -> f64 {
    let bytes: f64 = strata.iter().map(|stratum| stratum.bytes).sum();
    let stored_bytes: f64 = strata
        .iter()
        .map(|stratum| stratum.bytes * stratum.ratio)
        .sum();
    if bytes > 0.0 {
        stored_bytes / bytes
    } else {
        0.0
    }
}
