//! Packings of blocks as rules of a plan.

use std::collections::HashMap;

use super::BlockGain;
use crate::block_encoding::{BlockEncoding, EncodedBlocks, EncodingRule};

/// Ranges in one rule: with two numbers of 20 digits each and the escapes of a path of 4 KiB a line
/// of a plan stays below its 64 KiB.
const RANGES_MAX: usize = 1000;

/// Blocks of one file by number, in any order.
type Blocks = Vec<(u64, BlockEncoding)>;

/// The rules for blocks: file by file as they come, for each encoding the ranges.
pub(super) fn rules<'a>(
    packed: impl Iterator<Item = (&'a BlockGain, BlockEncoding)>,
) -> Vec<EncodingRule> {
    let mut files: Vec<(&[u8], Blocks)> = Vec::new();
    let mut places: HashMap<&[u8], usize> = HashMap::new();
    for (block, encoding) in packed {
        let path = block.path.as_slice();
        let place = *places.entry(path).or_insert(files.len());
        if place == files.len() {
            files.push((path, Vec::new()));
        }
        files[place].1.push((block.block, encoding));
    }
    files
        .into_iter()
        .flat_map(|(path, blocks)| rules_of_file(path, runs(blocks)))
        .collect()
}

/// Blocks that follow each other and are packed alike, ascending, without the default.
fn runs(mut blocks: Blocks) -> Vec<EncodedBlocks> {
    // Stable: of a block that comes twice the first counts.
    blocks.sort_by_key(|(block, _)| *block);
    blocks.dedup_by_key(|(block, _)| *block);
    let mut runs: Vec<EncodedBlocks> = Vec::new();
    for (block, encoding) in blocks {
        match runs.last_mut() {
            Some((range, same))
                if *same == encoding && range.end().checked_add(1) == Some(block) =>
            {
                *range = *range.start()..=block;
            }
            _ => runs.push((block..=block, encoding)),
        }
    }
    runs.retain(|(_, encoding)| *encoding != BlockEncoding::Default);
    runs
}

/// For each encoding a rule, or as many as its ranges take.
fn rules_of_file(path: &[u8], runs: Vec<EncodedBlocks>) -> Vec<EncodingRule> {
    let mut rules: Vec<EncodingRule> = Vec::new();
    for (range, encoding) in runs {
        // The last rule of a encoding is the one with room.
        let open = rules.iter_mut().rfind(|rule| rule.encoding == encoding);
        match open.filter(|rule| rule.blocks.len() < RANGES_MAX) {
            Some(rule) => rule.blocks.push(range),
            None => rules.push(EncodingRule {
                path: path.to_vec(),
                encoding,
                blocks: vec![range],
            }),
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(path: &str, block: u64) -> BlockGain {
        BlockGain {
            path: path.as_bytes().to_vec(),
            block,
            default_bytes: 1,
            choices: Vec::new(),
        }
    }

    #[test]
    fn blocks_that_follow_each_other_are_one_range() {
        use BlockEncoding::{Default, Level, Stored};
        let packed = [
            ("/b", 2, Stored),
            ("/a", 7, Level(22)),
            ("/b", 0, Stored),
            ("/b", 1, Stored),
            ("/b", 1, Level(3)), // The first counts.
            ("/b", 3, Default),
            ("/b", 4, Level(22)),
            ("/b", 6, Stored),
            ("/b", u64::MAX, Stored),
            ("/c", 0, Default),
        ];
        let blocks: Vec<_> = packed
            .iter()
            .map(|(path, number, _)| block(path, *number))
            .collect();
        let rules = rules(blocks.iter().zip(packed.iter().map(|it| it.2)));
        let found: Vec<_> = rules
            .iter()
            .map(|rule| (rule.path.as_slice(), rule.encoding, rule.blocks.clone()))
            .collect();
        let end = u64::MAX;
        let expected = [
            (&b"/b"[..], Stored, vec![0..=2, 6..=6, end..=end]),
            (b"/b", Level(22), vec![4..=4]),
            (b"/a", Level(22), vec![7..=7]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn many_ranges_are_several_rules_that_a_plan_can_hold() {
        let path = format!("/{}", "\n".repeat(4095));
        let blocks: Vec<_> = (0..=2 * RANGES_MAX as u64)
            .map(|number| block(&path, u64::MAX - 2 * number))
            .collect();
        let encoding = rules(blocks.iter().map(|block| (block, BlockEncoding::Stored)));
        let counts: Vec<_> = encoding.iter().map(|rule| rule.blocks.len()).collect();
        assert_eq!(counts, [RANGES_MAX, RANGES_MAX, 1]);
        let plan = crate::Plan {
            encoding,
            ..crate::Plan::default()
        };
        let mut text = Vec::new();
        plan.write(&mut text).expect("lines are short enough");
        assert_eq!(crate::Plan::parse(&text), Ok(plan));
    }
}
