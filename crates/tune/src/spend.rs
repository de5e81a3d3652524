//! Bytes spent on time: blocks of a start that are stored as they are.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use coldpress_build::SampledBlocks;
use coldpress_cost::{Demand, Machine, Medium};
use coldpress_format::{BlockSize, Compressor};
use coldpress_layout::{
    BlockGain, Item, NodeId, Order, Packing, PackingGain, PackingRule, ReadCost, Tree, assign,
};
use coldpress_trace::PAGE_SIZE_BYTES;

/// How much larger an image may become than it is with all blocks compressed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// By so many hundredths.
    Percent(f64),
    /// By so many bytes.
    Bytes(u64),
}

impl Budget {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and a byte is nothing"
    )]
    pub(crate) fn bytes(self, image_bytes: u64) -> u64 {
        match self {
            Self::Percent(percent) => (image_bytes as f64 * percent / 100.0) as u64,
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// What decides what a block saves.
pub(crate) struct Spending<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) demand: &'a Demand,
    pub(crate) medium: &'a Medium,
    pub(crate) machine: &'a Machine,
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
    pub(crate) rules: Vec<PackingRule>,
    pub(crate) stored: Stored,
    /// How many bytes more the blocks take.
    pub(crate) more_bytes: u64,
}

/// A block that a start reads, and what storing it saves.
struct HotBlock {
    /// The file; of a fragment block the first of its files.
    node: NodeId,
    is_fragment: bool,
    gain: BlockGain,
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

    /// The blocks of the hot part of an order that the start reads.
    fn hot_blocks(&self, order: &Order, blocks: &SampledBlocks<'_>) -> Vec<HotBlock> {
        let paths = self.paths();
        let touched = self.touched();
        let mut hot = Vec::new();
        for item in order.data.iter().take(order.hot_items) {
            match item {
                Item::Blocks(file) => {
                    if let (Some(path), Some(numbers)) = (paths.get(file), touched.get(file)) {
                        let found = numbers.iter();
                        hot.extend(
                            found.filter_map(|block| self.data_block(*file, path, *block, blocks)),
                        );
                    }
                }
                Item::Fragment(members) => {
                    hot.extend(self.fragment_block(members, &paths, blocks));
                }
            }
        }
        hot
    }

    /// A full block of a file; a short one is seldom worth a rule.
    fn data_block(
        &self,
        node: NodeId,
        path: &[u8],
        block: u64,
        blocks: &SampledBlocks<'_>,
    ) -> Option<HotBlock> {
        if block >= self.block_size.full_blocks(self.size_bytes(node)) {
            return None;
        }
        let len_bytes = self.block_size.bytes();
        let default_bytes = blocks.stored_bytes(node, block);
        Some(HotBlock {
            node,
            is_fragment: false,
            gain: self.gain(path, block, default_bytes, len_bytes)?,
        })
    }

    /// A fragment block, which a rule names by its first tail end.
    fn fragment_block(
        &self,
        members: &[NodeId],
        paths: &HashMap<NodeId, &[u8]>,
        blocks: &SampledBlocks<'_>,
    ) -> Option<HotBlock> {
        let node = *members.first()?;
        let path = paths.get(&node)?;
        let tails = members.iter();
        let len_bytes = tails
            .map(|it| self.block_size.tail_bytes(self.size_bytes(*it)))
            .sum();
        let default_bytes = blocks.fragment_bytes(members, len_bytes);
        let block = self.block_size.full_blocks(self.size_bytes(node));
        Some(HotBlock {
            node,
            is_fragment: true,
            gain: self.gain(path, block, default_bytes, len_bytes)?,
        })
    }

    fn size_bytes(&self, node: NodeId) -> u64 {
        self.tree.file_size(node).unwrap_or(0)
    }

    /// What storing a block saves; `None` if it is stored already.
    fn gain(
        &self,
        path: &[u8],
        block: u64,
        default_bytes: u32,
        len_bytes: u32,
    ) -> Option<BlockGain> {
        if default_bytes == 0 || default_bytes >= len_bytes {
            return None;
        }
        let speeds = &self.machine.speeds;
        let block_bytes = self.block_size.bytes();
        let decompression_s = speeds.decompression_s(self.compressor, block_bytes, len_bytes);
        let copy_s = f64::from(len_bytes) / speeds.copy_bytes_per_s;
        let saved_s = self
            .read_cost()
            .saved_s(default_bytes, len_bytes, decompression_s - copy_s);
        Some(BlockGain {
            path: path.to_vec(),
            block,
            default_bytes,
            choices: vec![PackingGain {
                packing: Packing::Stored,
                stored_bytes: len_bytes,
                saved_s,
            }],
        })
    }

    fn read_cost(&self) -> ReadCost {
        let medium = self.medium;
        let limit = medium.limit_bytes_per_s.unwrap_or(f64::INFINITY);
        let interval_s = medium.reads_per_s.map_or(0.0, f64::recip);
        ReadCost {
            bandwidth_bytes_per_s: medium.bandwidth_bytes_per_s.min(limit),
            request_s: medium.request_s.max(interval_s),
            request_bytes: u32::try_from(medium.readahead_bytes).unwrap_or(u32::MAX),
            sector_bytes: medium.sector_bytes,
        }
    }

    /// A path of each file that the start names.
    fn paths(&self) -> HashMap<NodeId, &[u8]> {
        let mut paths = HashMap::new();
        for path in &self.demand.paths {
            if let Some(node) = self.tree.find(path) {
                paths
                    .entry(self.tree.data_of(node))
                    .or_insert(path.as_slice());
            }
        }
        paths
    }

    /// The blocks of each file that were surely needed.
    fn touched(&self) -> BTreeMap<NodeId, BTreeSet<u64>> {
        let mut touched: BTreeMap<NodeId, BTreeSet<u64>> = BTreeMap::new();
        let block_bytes = u64::from(self.block_size.bytes());
        let block = |page: u64| page.saturating_mul(PAGE_SIZE_BYTES) / block_bytes;
        for step in &self.demand.steps {
            let path = self.demand.paths.get(step.path);
            let node = path.and_then(|path| self.tree.find(path));
            let pages = step.access.pages().filter(|_| step.access.is_certain());
            let (Some(node), Some((first, last))) = (node, pages) else {
                continue;
            };
            // A trace may name pages beyond the end.
            let end = self.size_bytes(node).div_ceil(block_bytes);
            let blocks = touched.entry(self.tree.data_of(node)).or_default();
            blocks.extend((block(first)..=block(last)).take_while(|block| *block < end));
        }
        touched
    }
}

/// Rules that store blocks, by their files.
fn by_path(rules: &[PackingRule]) -> HashMap<&[u8], Vec<&PackingRule>> {
    let mut by_path: HashMap<&[u8], Vec<&PackingRule>> = HashMap::new();
    for rule in rules.iter().filter(|rule| rule.packing == Packing::Stored) {
        by_path.entry(&rule.path).or_default().push(rule);
    }
    by_path
}

fn is_stored(gain: &BlockGain, by_path: &HashMap<&[u8], Vec<&PackingRule>>) -> bool {
    let mut rules = by_path.get(gain.path.as_slice()).into_iter().flatten();
    rules.any(|rule| {
        rule.blocks.is_empty() || rule.blocks.iter().any(|range| range.contains(&gain.block))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_part_of_the_image_or_bytes() {
        for (budget, bytes) in [
            (Budget::Percent(4.0), 40),
            (Budget::Percent(0.0), 0),
            (Budget::Percent(-1.0), 0),
            (Budget::Percent(f64::INFINITY), u64::MAX),
            (Budget::Bytes(7), 7),
        ] {
            assert_eq!(budget.bytes(1000), bytes, "{budget:?}");
        }
    }

    #[test]
    fn a_block_is_stored_if_a_rule_says_so() {
        let gain = |block| BlockGain {
            path: b"/a".to_vec(),
            block,
            default_bytes: 1,
            choices: Vec::new(),
        };
        let rule = |packing, blocks: &[std::ops::RangeInclusive<u64>]| PackingRule {
            path: b"/a".to_vec(),
            packing,
            blocks: blocks.to_vec(),
        };
        for (rules, expected) in [
            (vec![], [false, false]),
            (vec![rule(Packing::Stored, &[])], [true, true]),
            (vec![rule(Packing::Stored, &[0..=2, 7..=7])], [true, false]),
            (vec![rule(Packing::Level(3), &[])], [false, false]),
        ] {
            let by_path = by_path(&rules);
            let found = [1, 5].map(|block| is_stored(&gain(block), &by_path));
            assert_eq!(found, expected, "{rules:?}");
        }
    }
}
