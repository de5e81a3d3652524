//! How single blocks are packed: compressed as the image is, stored as they are, or at a level.
//!
//! Compression is worth its time where bytes are few and reads many. A block that every start
//! reads may be cheaper stored; one that no start reads may take the slowest level.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use coldpress_format::BlockSize;

use crate::finder::Finder;
use crate::order::{Item, Unmatched};
use crate::plan::Plan;
use crate::tree::{NodeId, Tree};

/// How one block is packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BlockEncoding {
    /// As the image says.
    #[default]
    Default,
    /// As it is, not compressed.
    Stored,
    /// At this level of the image's compressor, if it has it.
    Level(i32),
}

/// The encoding that a plan asks for, of some blocks of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodingRule {
    /// The file, by its path.
    pub path: Vec<u8>,
    /// How its blocks are packed.
    pub encoding: BlockEncoding,
    /// Which blocks, counted from 0 in blocks of the image; all, if there is none. The tail end
    /// is the block behind the last full one, wherever it is stored. `u64::MAX` as the end means
    /// the end of the file.
    pub blocks: Vec<RangeInclusive<u64>>,
}

/// Blocks of a file that are packed alike.
pub type EncodedBlocks = (RangeInclusive<u64>, BlockEncoding);

/// The encoding of items of the data area: for each that has any its blocks, ascending and
/// disjoint; [`BlockEncoding::Default`] for what is missing. The one block of a fragment item is 0.
pub(crate) type ItemPacking = BTreeMap<usize, Vec<EncodedBlocks>>;

/// The rules of a plan by node; of duplicates, by the file that has the data.
pub(crate) type Rules<'plan> = BTreeMap<NodeId, Vec<&'plan EncodingRule>>;

/// Finds the files of a plan's rules.
pub(crate) fn rules<'plan>(
    finder: &Finder<'_>,
    plan: &'plan Plan,
    unmatched: &mut Unmatched<'plan>,
) -> Rules<'plan> {
    let mut rules = Rules::new();
    for rule in &plan.encoding {
        let file = finder.file(&rule.path);
        unmatched.note(&rule.path, file.is_none());
        if let Some((id, _)) = file {
            rules.entry(id).or_default().push(rule);
        }
    }
    rules
}

/// The encoding of each item that a rule is about.
pub(crate) fn of_items(
    tree: &Tree,
    data: &[Item],
    rules: &Rules<'_>,
    block_size: BlockSize,
) -> ItemPacking {
    if rules.is_empty() {
        return ItemPacking::new();
    }
    let of_item = |item: &Item| match item {
        Item::Blocks(id) => rules.get(id).map(|rules| runs(rules)).unwrap_or_default(),
        Item::Fragment(members) => {
            let first = members.iter().find_map(|id| {
                let tail = block_size.full_blocks(tree.file_size(*id)?);
                let encoding = find(&runs(rules.get(id)?), tail);
                (encoding != BlockEncoding::Default).then_some(encoding)
            });
            first
                .map(|encoding| vec![(0..=0, encoding)])
                .unwrap_or_default()
        }
    };
    let encoding = data.iter().map(of_item).enumerate();
    encoding.filter(|(_, blocks)| !blocks.is_empty()).collect()
}

/// The encoding of a block.
///
/// # Cost
///
/// A binary search.
pub(crate) fn find(blocks: &[EncodedBlocks], block: u64) -> BlockEncoding {
    let place = blocks.partition_point(|(range, _)| *range.end() < block);
    match blocks.get(place) {
        Some((range, encoding)) if range.contains(&block) => *encoding,
        _ => BlockEncoding::Default,
    }
}

/// The blocks of a file by encoding. The first rule that names a block counts.
///
/// # Cost
///
/// O(n log n) in the ranges, which may overlap as they like.
fn runs(rules: &[&EncodingRule]) -> Vec<EncodedBlocks> {
    // A sweep over the places where a range begins or has ended, with the ranges that are open.
    let mut events = Vec::new();
    for (rule, number) in rules.iter().zip(0_usize..) {
        let all = [0..=u64::MAX];
        let blocks = if rule.blocks.is_empty() {
            &all[..]
        } else {
            &rule.blocks
        };
        for range in blocks.iter().filter(|range| !range.is_empty()) {
            let range_number = events.len();
            events.push((*range.start(), true, number, range_number));
            if let Some(end) = range.end().checked_add(1) {
                events.push((end, false, number, range_number));
            }
        }
    }
    events.sort_unstable();
    let mut open = BTreeSet::new();
    let mut runs: Vec<EncodedBlocks> = Vec::new();
    let mut events = events.into_iter().peekable();
    while let Some((at, begins, rule, range)) = events.next() {
        if begins {
            open.insert((rule, range));
        } else {
            open.remove(&(rule, range));
        }
        let next = events.peek().map(|event| event.0);
        let encoding = open
            .first()
            .map_or(BlockEncoding::Default, |&(rule, _)| rules[rule].encoding);
        if next == Some(at) || encoding == BlockEncoding::Default {
            continue;
        }
        let last = next.map_or(u64::MAX, |next| next - 1);
        match runs.last_mut() {
            Some((range, same)) if *same == encoding && range.end().checked_add(1) == Some(at) => {
                *range = *range.start()..=last;
            }
            _ => runs.push((at..=last, encoding)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(encoding: BlockEncoding, blocks: &[RangeInclusive<u64>]) -> EncodingRule {
        EncodingRule {
            path: b"/f".to_vec(),
            encoding,
            blocks: blocks.to_vec(),
        }
    }

    #[test]
    fn the_first_rule_that_names_a_block_counts() {
        use BlockEncoding::{Default, Level, Stored};
        let end = u64::MAX;
        let cases: Vec<(Vec<EncodingRule>, Vec<EncodedBlocks>)> = vec![
            (vec![], vec![]),
            (vec![rule(Stored, &[])], vec![(0..=end, Stored)]),
            (vec![rule(Default, &[]), rule(Stored, &[])], vec![]),
            (
                vec![rule(Level(9), &[7..=7, 0..=3]), rule(Stored, &[])],
                vec![
                    (0..=3, Level(9)),
                    (4..=6, Stored),
                    (7..=7, Level(9)),
                    (8..=end, Stored),
                ],
            ),
            (
                vec![
                    rule(Stored, &[2..=5, 4..=9, 10..=10]),
                    rule(Level(1), &[0..=3]),
                ],
                vec![(0..=1, Level(1)), (2..=10, Stored)],
            ),
            (
                vec![rule(Default, &[3..=4]), rule(Level(-5), &[2..=end])],
                vec![(2..=2, Level(-5)), (5..=end, Level(-5))],
            ),
            (vec![rule(Stored, &[end..=end])], vec![(end..=end, Stored)]),
        ];
        for (rules, expected) in cases {
            let rules: Vec<_> = rules.iter().collect();
            let runs = runs(&rules);
            assert_eq!(runs, expected);
            for block in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, end - 1, end] {
                let named = |rule: &&&EncodingRule| {
                    rule.blocks.is_empty() || rule.blocks.iter().any(|range| range.contains(&block))
                };
                let first = rules.iter().find(named);
                assert_eq!(
                    find(&runs, block),
                    first.map_or(Default, |rule| rule.encoding)
                );
            }
        }
    }
}
