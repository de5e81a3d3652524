//! Which of several compromises are worth considering.

/// Tells of each point whether it is on the Pareto front: no other point is as good in every
/// coordinate and better in one. Less is better; equal points stand or fall together. A point with
/// a coordinate that is no number is not on the front, and keeps no other from it.
///
/// # Cost
///
/// Compares each point with each.
pub fn pareto_front<const N: usize>(points: &[[f64; N]]) -> Vec<bool> {
    let is_known = |point: &[f64; N]| point.iter().all(|value| !value.is_nan());
    points
        .iter()
        .map(|point| is_known(point) && !points.iter().any(|other| dominates(other, point)))
        .collect()
}

/// A comparison with what is no number is false, so such a point dominates none.
fn dominates<const N: usize>(one: &[f64; N], other: &[f64; N]) -> bool {
    let mut pairs = one.iter().zip(other);
    pairs.clone().all(|(one, other)| one <= other) && pairs.any(|(one, other)| one < other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::SplitMix64;

    #[test]
    fn a_point_is_on_the_front_unless_another_is_better_in_all() {
        let cases: [(&[[f64; 2]], &[bool]); 7] = [
            (&[], &[]),
            (&[[1.0, 1.0]], &[true]),
            (&[[1.0, 2.0], [2.0, 1.0]], &[true, true]),
            (&[[1.0, 2.0], [2.0, 2.0]], &[true, false]),
            (&[[1.0, 1.0], [1.0, 1.0], [1.0, 2.0]], &[true, true, false]),
            (&[[f64::NAN, 0.0], [1.0, 1.0]], &[false, true]),
            (
                &[[3.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 3.0]],
                &[true, true, true, false],
            ),
        ];
        for (points, front) in cases {
            assert_eq!(pareto_front(points), front, "{points:?}");
        }
    }

    /// What makes a front: none of it is dominated, and all else is, by one of it.
    #[test]
    fn each_point_off_the_front_is_dominated_by_one_on_it() {
        let mut random = SplitMix64(1);
        for count in 0..40 {
            // Few values, so that many are equal.
            #[expect(clippy::cast_precision_loss, reason = "numbers below 5")]
            let points: Vec<[f64; 3]> = (0..count)
                .map(|_| [(); 3].map(|()| (random.next() % 5) as f64))
                .collect();
            let front = pareto_front(&points);
            for (index, point) in points.iter().enumerate() {
                let mut on_front = points.iter().zip(&front).filter(|(_, on)| **on);
                let is_dominated = on_front.any(|(other, _)| dominates(other, point));
                assert_eq!(is_dominated, !front[index], "{point:?} of {points:?}");
            }
        }
    }
}
