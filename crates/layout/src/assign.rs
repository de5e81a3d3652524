//! Which blocks are stored, and at which level the others are compressed, within a budget.
//!
//! A block that every start reads is decompressed in every start. Stored, or compressed by less,
//! it takes more bytes of the image and of the medium instead. A block that no start reads costs
//! nothing but its bytes. So each block has some ways to be packed, each with a size and a time,
//! and of each one is to be chosen: the knapsack problem with multiple choices.
//!
//! Of a block only those choices matter that lie on the concave hull of time over bytes: its
//! [`Hull`](hull::Hull). The vertices of all blocks are climbed by what they save for each byte,
//! best first, while bytes are left. An exact solution would take time and memory proportional to
//! the budget in bytes; this one misses it by less than one vertex saves, a millisecond or two.

mod hull;
mod read_cost;
mod rules;

pub use read_cost::ReadCost;

use crate::block_encoding::{BlockEncoding, EncodingRule};
use hull::Hull;

/// The ways in which one block can be packed.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockGain {
    /// The file, by its path; of a fragment block the first member. Files with the same bytes, and
    /// hard links, are one: only one of their paths may come.
    pub path: Vec<u8>,
    /// The number of the block in the file. The tail end is the block behind the last full one,
    /// and stands for the fragment block that begins with it.
    pub block: u64,
    /// What it takes in the image packed as the image says.
    pub default_bytes: u32,
    /// The other ways.
    pub choices: Vec<EncodingGain>,
}

/// One way to pack a block, compared with packing it as the image says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncodingGain {
    /// The way.
    pub encoding: BlockEncoding,
    /// What the block then takes in the image.
    pub stored_bytes: u32,
    /// How much earlier a start ends: decompression that is saved, less what reading the other
    /// bytes takes ([`ReadCost::saved_s`]). Negative if it ends later; 0 of blocks that no start
    /// reads.
    pub saved_s: f64,
}

/// The encoding of blocks that saves most time for at most `budget_bytes` more than the image takes
/// without any rule.
///
/// - What makes a start slower is not chosen, however much smaller.
/// - What is smaller and not slower is always chosen, and what it saves can be spent: a level that
///   takes long to compress, for blocks that no start reads, pays for blocks that are stored. So a
///   caller names only levels that are worth their time in the build.
/// - What saves most time for each byte comes first. All that is saved is at most one step of a
///   block less than the best there is.
///
/// Returns the rules in the order in which their files come in `blocks`, with ranges of blocks that
/// follow each other. Of blocks that come twice the first counts in the image, and both in the
/// budget. The same blocks give the same rules.
///
/// # Cost
///
/// O(n log n) in the choices of all blocks.
pub fn assign(blocks: &[BlockGain], budget_bytes: u64) -> Vec<EncodingRule> {
    let hulls: Vec<Hull> = blocks.iter().map(Hull::new).collect();
    let freed_bytes: u64 = hulls.iter().map(Hull::freed_bytes).sum();
    let climbed = climb(&hulls, budget_bytes.saturating_add(freed_bytes));
    let encodings = hulls
        .iter()
        .zip(climbed)
        .map(|(it, vertex)| it.encoding(vertex));
    rules::rules(blocks.iter().zip(encodings))
}

/// For each hull the vertex that is reached with so many bytes, the best steps of all first.
fn climb(hulls: &[Hull], mut free_bytes: u64) -> Vec<usize> {
    let mut steps: Vec<_> = hulls
        .iter()
        .enumerate()
        .flat_map(|(place, hull)| hull.steps().map(move |step| (place, step)))
        .collect();
    steps.sort_by(|(_, left), (_, right)| {
        right.saved_s_per_byte().total_cmp(&left.saved_s_per_byte())
    });
    let mut climbed = vec![0; hulls.len()];
    for (place, step) in steps {
        // Who could not afford a vertex does not reach the next one.
        if climbed[place] + 1 == step.vertex && step.more_bytes <= free_bytes {
            climbed[place] = step.vertex;
            free_bytes -= step.more_bytes;
        }
    }
    climbed
}

#[cfg(test)]
mod tests;
