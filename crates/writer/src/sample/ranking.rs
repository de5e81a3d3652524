//! The blocks of a population in the order of how they compress, and which of them are samples.
//!
//! Neighbors are alike: the same kind of content, about as long, shrinking by about as much.
//! Samples at even distances of the bytes that blocks take with the fast compressor therefore have
//! their share of everything, and a large block is a sample more likely than a small one. This is
//! systematic sampling with probability proportional to size from an ordered list (Hartley and Rao
//! 1962; Madow 1949). Twice as many samples are those there were, and one in each gap.

use super::population::Population;
use super::surveyed::{Family, Surveyed};

/// Steps into which a key divides the ratio of fast size to length.
const RATIO_STEPS: u64 = 255;

/// Where a block stands in the order: by kind, length to a power of two, ratio, place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

impl Key {
    const PLACE_BITS: u32 = 48;

    pub(super) fn new(block: &Surveyed, place: usize, family: Family) -> Self {
        let len_bytes = block.len_bytes.max(1);
        let kind = block.kind as u64;
        let len_log2 = u64::from(len_bytes.ilog2());
        let ratio = u64::from(block.fast_bytes(family)) * RATIO_STEPS / u64::from(len_bytes);
        let group = (kind << 13) | (len_log2 << 8) | ratio;
        Self((group << Self::PLACE_BITS) | place as u64)
    }

    /// The block's place in its population.
    pub(super) fn place(self) -> usize {
        let place = self.0 & ((1 << Self::PLACE_BITS) - 1);
        usize::try_from(place).expect("it was one")
    }
}

#[derive(Debug)]
pub(super) struct Ranking {
    pub(super) population: usize,
    pub(super) family: Family,
    /// Those blocks that are in question, ascending.
    pub(super) keys: Vec<Key>,
    /// Fast bytes of each block and all before it.
    ends_bytes: Vec<u64>,
    /// Bytes of the blocks that no compressor is tried on.
    pub(super) incompressible_bytes: u64,
}

impl Ranking {
    pub(super) fn new(population: usize, family: Family, blocks: &Population) -> Self {
        let (mut keys, mut incompressible_bytes) = (Vec::new(), 0);
        for (place, block) in blocks.blocks.iter().enumerate() {
            if block.is_in_question() {
                keys.push(Key::new(block, place, family));
            } else {
                incompressible_bytes += u64::from(block.fast_bytes(family));
            }
        }
        keys.sort_unstable();
        let fast_bytes = |key: &Key| u64::from(blocks.blocks[key.place()].fast_bytes(family));
        let mut sum_bytes = 0;
        let sums = keys.iter().map(|key| {
            sum_bytes += fast_bytes(key);
            sum_bytes
        });
        Self {
            population,
            family,
            ends_bytes: sums.collect(),
            keys,
            incompressible_bytes,
        }
    }

    /// Fast bytes of all its blocks.
    pub(super) fn total_bytes(&self) -> u64 {
        self.ends_bytes.last().copied().unwrap_or(0)
    }

    /// Fast bytes in front of a rank.
    pub(super) fn start_bytes(&self, rank: usize) -> u64 {
        match rank.checked_sub(1) {
            Some(before) => self.ends_bytes[before],
            None => 0,
        }
    }

    /// The ranks of the samples, ascending: the first and the last, and those at every
    /// `2^-density` of the bytes; all if there are no more blocks than that.
    ///
    /// # Cost
    ///
    /// A binary search for each.
    pub(super) fn samples(&self, density: u32) -> Vec<usize> {
        let parts = 1_usize << density;
        if self.keys.len() <= parts {
            return (0..self.keys.len()).collect();
        }
        let total_bytes = u128::from(self.total_bytes());
        let rank = |part: usize| {
            let at = (total_bytes * part as u128) >> density;
            self.ends_bytes
                .partition_point(|end| u128::from(*end) <= at)
        };
        let last = self.keys.len() - 1;
        let inner = (1..parts).map(|part| rank(part).min(last));
        let mut ranks: Vec<usize> = std::iter::once(0).chain(inner).chain([last]).collect();
        ranks.dedup();
        ranks
    }

    /// The first rank of the blocks that a sample stands for: those from half the way to the sample
    /// before it on.
    pub(super) fn first_of(&self, before: usize, sample: usize) -> usize {
        let middle = u64::midpoint(self.ends_bytes[before], self.start_bytes(sample));
        let rank = self.ends_bytes.partition_point(|end| *end <= middle);
        rank.clamp(before + 1, sample)
    }
}
