//! What is chosen, by example.

use super::*;
use BlockEncoding::{Default, Level, Stored};

fn gain(encoding: BlockEncoding, stored_bytes: u32, saved_s: f64) -> EncodingGain {
    EncodingGain {
        encoding,
        stored_bytes,
        saved_s,
    }
}

/// Blocks of 100 bytes each, all of one file.
fn blocks(choices: &[&[EncodingGain]]) -> Vec<BlockGain> {
    let block = |(choices, block): (&&[EncodingGain], u64)| BlockGain {
        path: b"/f".to_vec(),
        block,
        default_bytes: 100,
        choices: choices.to_vec(),
    };
    choices.iter().zip(0..).map(block).collect()
}

/// The encoding of each of the first `count` blocks.
fn chosen(blocks: &[BlockGain], budget_bytes: u64) -> Vec<BlockEncoding> {
    let rules = assign(blocks, budget_bytes);
    let encoding = |block: &BlockGain| {
        let mut rules = rules.iter();
        let rule = rules.find(|rule| rule.blocks.iter().any(|it| it.contains(&block.block)));
        rule.map_or(Default, |rule| rule.encoding)
    };
    blocks.iter().map(encoding).collect()
}

#[test]
fn bytes_are_spent_where_they_save_most_time() {
    let stored = |saved_s| [gain(Stored, 200, saved_s)];
    let (slow, fast, slower) = (stored(0.004), stored(0.001), stored(-0.001));
    let given = blocks(&[&fast, &slow, &slower]);
    for (budget_bytes, expected) in [
        (0, [Default, Default, Default]),
        (99, [Default, Default, Default]),
        (100, [Default, Stored, Default]),
        (199, [Default, Stored, Default]),
        (200, [Stored, Stored, Default]),
        (u64::MAX, [Stored, Stored, Default]),
    ] {
        assert_eq!(chosen(&given, budget_bytes), expected, "{budget_bytes}");
    }
}

#[test]
fn what_cold_blocks_give_up_hot_ones_may_spend() {
    let cold = [gain(Level(22), 60, 0.0)];
    let hot = [gain(Level(22), 90, 0.001), gain(Stored, 150, 0.004)];
    let given = blocks(&[&cold, &hot]);
    // From 90 to 150 it takes 60 bytes: 40 of the cold block, 10 of its own, 10 of the budget.
    assert_eq!(chosen(&given, 9), [Level(22), Level(22)]);
    assert_eq!(chosen(&given, 10), [Level(22), Stored]);
}

#[test]
fn choices_below_the_hull_are_passed_over() {
    let choices = [
        gain(Level(3), 110, 0.001), // 0.1 ms for each byte, but the next has 0.2.
        gain(Level(1), 120, 0.004),
        gain(Level(2), 120, 0.003), // The same bytes for less.
        gain(Stored, 200, 0.005),
        gain(Level(9), 300, 0.005), // More bytes for the same.
        gain(Level(4), 100, 0.0),   // What the default is.
        gain(Level(5), 90, -0.001), // Smaller, but slower.
        gain(Level(6), 90, f64::NAN),
        gain(Level(7), 90, f64::INFINITY),
    ];
    let given = blocks(&[&choices]);
    for (budget_bytes, expected) in [
        (0, Default),
        (19, Default),
        (20, Level(1)),
        (99, Level(1)),
        (100, Stored),
    ] {
        assert_eq!(chosen(&given, budget_bytes), [expected], "{budget_bytes}");
    }
}

#[test]
fn a_step_that_is_too_large_leaves_its_bytes_to_others() {
    let large = [gain(Stored, 1100, 0.1)];
    let small = [gain(Stored, 150, 0.001)];
    let given = blocks(&[&large, &small]);
    assert_eq!(chosen(&given, 999), [Default, Stored]);
    assert_eq!(chosen(&given, 1000), [Stored, Default]);
}

#[test]
fn no_blocks_need_no_rules() {
    assert_eq!(assign(&[], 1000), []);
    assert_eq!(assign(&blocks(&[&[]]), 1000), []);
}
