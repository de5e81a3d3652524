//! Bytes spent on time: blocks of a start that are stored as they are.

mod hot;

use std::collections::{HashMap, HashSet};

use coldpress_cost::AccessSequence;
use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::{BlockEncoding, BlockGain, EncodingRule, NodeId, Order, Tree, assign};
use coldpress_writer::SampledBlocks;

use crate::device::Device;

/// What decides what a block saves.
pub(crate) struct Spending<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) sequence: &'a AccessSequence,
    /// Where it is read; what is saved is the mean.
    pub(crate) devices: &'a [Device],
    pub(crate) compressor: Compressor,
    pub(crate) block_size: BlockSize,
}

/// Blocks that are stored as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Data blocks, by file and number.
    pub(crate) blocks: HashSet<(NodeId, u64)>,
    /// Fragment blocks, by the first of the files whose tail ends they hold.
    pub(crate) fragments: HashSet<NodeId>,
}

/// What was bought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// As a plan says it.
    pub(crate) rules: Vec<EncodingRule>,
    pub(crate) stored: Stored,
    /// How many bytes more the blocks take.
    pub(crate) more_bytes: u64,
}

impl Spending<'_> {
    /// Stores those blocks of the hot part of an order that save most time for their bytes.
    pub(crate) fn spend(
        &self,
        order: &Order,
        blocks: &SampledBlocks<'_>,
        budget_bytes: u64,
    ) -> Spent {
        let (hot, gains): (Vec<_>, Vec<_>) = self
            .hot_blocks(order, blocks)
            .into_iter()
            .map(|found| ((found.node, found.is_fragment), found.gain))
            .unzip();
        let rules = assign(&gains, budget_bytes);
        let mut stored = Stored::default();
        let mut more_bytes = 0;
        let by_path = by_path(&rules);
        for ((node, is_fragment), gain) in hot.into_iter().zip(&gains) {
            if !is_stored(gain, &by_path) {
                continue;
            }
            if is_fragment {
                stored.fragments.insert(node);
            } else {
                stored.blocks.insert((node, gain.block));
            }
            let choice = gain.choices.first();
            let stored_bytes = choice.map_or(0, |choice| choice.stored_bytes);
            more_bytes += u64::from(stored_bytes.saturating_sub(gain.default_bytes));
        }
        Spent {
            rules,
            stored,
            more_bytes,
        }
    }
}

/// Rules that store blocks, by their files.
fn by_path(rules: &[EncodingRule]) -> HashMap<&[u8], Vec<&EncodingRule>> {
    let mut by_path: HashMap<&[u8], Vec<&EncodingRule>> = HashMap::new();
    for rule in rules
        .iter()
        .filter(|rule| rule.encoding == BlockEncoding::Stored)
    {
        by_path.entry(&rule.path).or_default().push(rule);
    }
    by_path
}

fn is_stored(gain: &BlockGain, by_path: &HashMap<&[u8], Vec<&EncodingRule>>) -> bool {
    let mut rules = by_path.get(gain.path.as_slice()).into_iter().flatten();
    rules.any(|rule| {
        rule.blocks.is_empty() || rule.blocks.iter().any(|range| range.contains(&gain.block))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_stored_if_a_rule_says_so() {
        let gain = |block| BlockGain {
            path: b"/a".to_vec(),
            block,
            default_bytes: 1,
            choices: Vec::new(),
        };
        let rule = |encoding, blocks: &[std::ops::RangeInclusive<u64>]| EncodingRule {
            path: b"/a".to_vec(),
            encoding,
            blocks: blocks.to_vec(),
        };
        for (rules, expected) in [
            (vec![], [false, false]),
            (vec![rule(BlockEncoding::Stored, &[])], [true, true]),
            (
                vec![rule(BlockEncoding::Stored, &[0..=2, 7..=7])],
                [true, false],
            ),
            (vec![rule(BlockEncoding::Level(3), &[])], [false, false]),
        ] {
            let by_path = by_path(&rules);
            let found = [1, 5].map(|block| is_stored(&gain(block), &by_path));
            assert_eq!(found, expected, "{rules:?}");
        }
    }
}
