//! Encodings of blocks within a budget, for any blocks: the budget holds, nothing gets slower, and
//! little is missed.

use coldpress_layout::{BlockEncoding, BlockGain, EncodingGain, EncodingRule, assign};
use proptest::prelude::*;

/// Up to 6 blocks of up to 3 files with up to 3 choices each, so that all combinations can be
/// tried.
fn blocks() -> impl Strategy<Value = Vec<BlockGain>> {
    // Steps of a millisecond: ties are likely.
    let choice = (0..400_u32, -2..6_i32).prop_map(|(stored_bytes, saved_ms)| EncodingGain {
        encoding: BlockEncoding::Default, // Named below.
        stored_bytes,
        saved_s: f64::from(saved_ms) / 1000.0,
    });
    let block = (0..3_u8, 0..400_u32, prop::collection::vec(choice, 0..4));
    prop::collection::vec(block, 0..7).prop_map(|blocks| {
        let named =
            |((file, default_bytes, mut choices), block): ((u8, u32, Vec<EncodingGain>), u64)| {
                for (choice, level) in choices.iter_mut().zip(1..) {
                    choice.encoding = BlockEncoding::Level(level);
                }
                BlockGain {
                    path: format!("/{file}").into_bytes(),
                    block,
                    default_bytes,
                    choices,
                }
            };
        blocks.into_iter().zip(0..).map(named).collect()
    })
}

/// The choices of a block: bytes and time saved, the default first.
fn choices(block: &BlockGain) -> Vec<(i64, f64)> {
    let others = block
        .choices
        .iter()
        .map(|it| (it.stored_bytes.into(), it.saved_s));
    std::iter::once((block.default_bytes.into(), 0.0))
        .chain(others)
        .collect()
}

/// More bytes than without rules, and time saved; the slowest single block.
fn outcome(blocks: &[BlockGain], rules: &[EncodingRule]) -> (i64, f64, f64) {
    let mut sum = (0, 0.0, f64::INFINITY);
    for block in blocks {
        let is_for = |rule: &&EncodingRule| {
            rule.path == block.path && rule.blocks.iter().any(|it| it.contains(&block.block))
        };
        let encoding = rules.iter().find(is_for).map(|rule| rule.encoding);
        let place = match encoding {
            Some(BlockEncoding::Level(level)) => usize::try_from(level).expect("positive"),
            _ => 0,
        };
        let (bytes, saved_s) = choices(block)[place];
        sum.0 += bytes - i64::from(block.default_bytes);
        sum.1 += saved_s;
        sum.2 = saved_s.min(sum.2);
    }
    sum
}

/// The most time that can be saved, by trying everything, without a block that gets slower.
fn best_s(blocks: &[BlockGain], budget_bytes: i64) -> f64 {
    let mut reached = vec![(0, 0.0)];
    for block in blocks {
        let lawful: Vec<_> = choices(block)
            .into_iter()
            .filter(|it| it.1 >= 0.0)
            .collect();
        let more = |(bytes, saved_s): (i64, f64)| {
            let default_bytes = i64::from(block.default_bytes);
            let with = move |it: &(i64, f64)| (bytes + it.0 - default_bytes, saved_s + it.1);
            lawful.iter().map(with).collect::<Vec<_>>()
        };
        reached = reached.into_iter().flat_map(more).collect();
    }
    let affordable = reached.into_iter().filter(|it| it.0 <= budget_bytes);
    affordable.map(|it| it.1).fold(0.0, f64::max)
}

proptest! {
    #[test]
    fn the_budget_holds_nothing_gets_slower_and_little_is_missed(
        blocks in blocks(),
        budget_bytes in 0..1500_u32,
    ) {
        let rules = assign(&blocks, budget_bytes.into());
        let (more_bytes, saved_s, slowest_s) = outcome(&blocks, &rules);
        prop_assert!(more_bytes <= i64::from(budget_bytes));
        prop_assert!(slowest_s >= 0.0);
        // No step saves more than the choice that saves most.
        let step_s = blocks.iter().flat_map(choices).map(|it| it.1).fold(0.0, f64::max);
        let best_s = best_s(&blocks, budget_bytes.into());
        prop_assert!(saved_s >= best_s - step_s - 1e-9, "{saved_s} of {best_s}");
        let all = assign(&blocks, u64::MAX);
        let most_s: f64 = blocks.iter().map(|it| choices(it).iter().map(|it| it.1).fold(0.0, f64::max)).sum();
        prop_assert!((outcome(&blocks, &all).1 - most_s).abs() < 1e-9);
    }

    #[test]
    fn more_budget_never_saves_less(
        blocks in blocks(),
        budget_bytes in 0..1500_u64,
        more_bytes in 0..1500_u64,
    ) {
        let saved_s = |budget_bytes| outcome(&blocks, &assign(&blocks, budget_bytes)).1;
        prop_assert!(saved_s(budget_bytes + more_bytes) >= saved_s(budget_bytes) - 1e-9);
    }
}
