//! The order of a turn: random, and the same again for the same seed.

use crate::stats::SplitMix64;

/// The order of `count` contestants in a turn.
///
/// Each turn has all of them, so that a machine that slows down slows all of them down; the order
/// is random, so that none profits from standing behind another.
pub(super) fn order(seed: u64, turn: u32, count: usize) -> Vec<usize> {
    let mut random = SplitMix64(seed ^ u64::from(turn).rotate_left(32));
    let mut order: Vec<usize> = (0..count).collect();
    random.shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_turn_has_all_and_the_seed_decides() {
        for turn in 0..50 {
            let mut found = order(7, turn, 5);
            assert_eq!(found, order(7, turn, 5));
            found.sort_unstable();
            assert_eq!(found, [0, 1, 2, 3, 4]);
        }
        let orders = |seed| (0..20).map(|turn| order(seed, turn, 5)).collect::<Vec<_>>();
        assert_ne!(orders(1), orders(2));
    }

    #[test]
    fn either_of_two_goes_first_about_as_often() {
        let first = (0..1000)
            .filter(|turn| order(3, *turn, 2) == [0, 1])
            .count();
        assert!((400..600).contains(&first), "{first} of 1000");
    }
}
