//! In which order the contestants run in each turn.

use crate::stats::SplitMix64;

/// The contestants of a turn, by index.
///
/// Each even turn is a random permutation, so that no contestant always follows the same other; the
/// odd turn behind it is the same backwards, so that in the mean none runs earlier than another: a
/// machine that slows down slows all of them down alike. The same seed gives the same order.
pub(crate) fn order(seed: u64, turn: u32, contestants: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..contestants).collect();
    // Each pair of turns has its own place in the sequence, so that a turn needs none before it.
    let mut random = SplitMix64(seed ^ SplitMix64(u64::from(turn / 2)).next());
    for last in (1..contestants).rev() {
        // Durstenfeld, "Algorithm 235: Random permutation" (1964).
        order.swap(last, random.below(last + 1));
    }
    if turn % 2 == 1 {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_turn_has_every_contestant_and_every_second_one_is_the_first_backwards() {
        for seed in [0, 1, u64::MAX] {
            for turn in (0..20).step_by(2) {
                let mut order = order(seed, turn, 5);
                let backwards: Vec<usize> =
                    super::order(seed, turn + 1, 5).into_iter().rev().collect();
                assert_eq!(order, backwards);
                order.sort_unstable();
                assert_eq!(order, [0, 1, 2, 3, 4]);
            }
        }
        assert!(order(0, 0, 0).is_empty());
    }

    #[test]
    fn all_orders_come_up_and_the_seed_decides() {
        let orders: BTreeSet<Vec<usize>> = (0..200).map(|turn| order(3, turn, 3)).collect();
        assert_eq!(orders.len(), 6);
        let all = |seed| (0..20).map(|turn| order(seed, turn, 4)).collect::<Vec<_>>();
        assert_eq!(all(9), all(9));
        assert_ne!(all(9), all(10));
    }
}
