//! What single blocks of a candidate's image would take.

use std::collections::HashMap;
use std::ops::Range;

use coldpress_assemble::Table;
use coldpress_layout::NodeId;

use super::Sampling;
use super::curve::{real, scaled};
use super::ratio_model::{Part, Parts};
use crate::uncompressed::Uncompressed;

/// The blocks that a candidate would store. What was not sampled is what similar blocks are.
#[derive(Clone, Debug)]
pub struct SampledBlocks<'a> {
    sampling: &'a Sampling,
    parts: Parts,
    /// The places of each file's blocks.
    files: HashMap<NodeId, Range<usize>>,
    /// For each tail end that is in a fragment block its length, and how that block shrinks.
    tails: HashMap<NodeId, (f64, f64)>,
    metadata_ratio: f64,
    /// What is stored as it is.
    stored: Uncompressed,
}

impl Sampling {
    /// The blocks of a candidate, by its place among them.
    ///
    /// # Cost
    ///
    /// O(n log n) in the files of the source, with a small factor.
    pub fn blocks(&self, candidate: usize) -> SampledBlocks<'_> {
        let parts = self.parts[candidate].clone();
        let data = &self.ratio_model.populations[parts.fragments.population];
        let files = data.files();
        let mut tails = HashMap::new();
        for place in parts.fragment_places.clone() {
            let ratio = self.ratio(&parts.fragments, place..place + 1);
            for node in data.members(place) {
                let last = files
                    .get(node)
                    .and_then(|places| data.blocks[places.clone()].last());
                let len_bytes = last.map_or(0, |block| block.len_bytes);
                tails.insert(*node, (f64::from(len_bytes), ratio));
            }
        }
        let metadata = &self.ratio_model.populations[parts.tables.population];
        SampledBlocks {
            sampling: self,
            files,
            tails,
            metadata_ratio: self.ratio(&parts.tables, 0..metadata.blocks.len()),
            parts,
            stored: self.candidates[candidate].stored(),
        }
    }

    /// What some blocks take for each byte that they hold; 1 of none.
    fn ratio(&self, part: &Part, places: Range<usize>) -> f64 {
        let blocks = &self.ratio_model.populations[part.population].blocks[places.clone()];
        let len_bytes: u64 = blocks.iter().map(|block| u64::from(block.len_bytes)).sum();
        let expected = places.map(|place| self.ratio_model.expected(part, place));
        let stored_bytes = expected.map(|expected| u64::from(expected.stored_bytes));
        if len_bytes == 0 {
            return 1.0;
        }
        real(stored_bytes.sum()) / real(len_bytes)
    }
}

impl SampledBlocks<'_> {
    /// Bytes that a data block takes, its length if it is stored as it is, 0 if it is of zeros or
    /// there is none.
    ///
    /// * `file`: of duplicates the original ([`Tree::data_of`](coldpress_layout::Tree::data_of)).
    /// * `block`: its number in the file. The one behind the last full block is the tail end, as if
    ///   it were a block of its own.
    pub fn stored_bytes(&self, file: NodeId, block: u64) -> u32 {
        let Some(places) = self.files.get(&file) else {
            return 0;
        };
        let place = usize::try_from(block)
            .ok()
            .and_then(|block| places.clone().nth(block));
        let expected = |place| self.sampling.ratio_model.expected(&self.parts.files, place);
        place.map_or(0, |place| expected(place).stored_bytes)
    }

    /// Bytes that a fragment block takes. It need not be one that was sampled: tail ends shrink as
    /// the fragment blocks do that they were surveyed in.
    ///
    /// * `members`: the files whose tail ends it holds, originals as above.
    /// * `len_bytes`: what it holds.
    pub fn fragment_bytes(&self, members: &[NodeId], len_bytes: u32) -> u32 {
        // A tail end that was in no fragment block says nothing of it.
        let known = members.iter().filter_map(|node| self.tails.get(node));
        let (stored_bytes, known_bytes) = known
            .fold((0.0, 0.0), |(stored, known), (len, ratio)| {
                (stored + len * ratio, known + len)
            });
        if known_bytes > 0.0 {
            scaled(len_bytes, stored_bytes / known_bytes)
        } else {
            len_bytes
        }
    }

    /// Bytes that a metadata block takes, on average; its length if it is stored as it is.
    ///
    /// * `len_bytes`: what it holds.
    pub fn metadata_bytes(&self, table: Table, len_bytes: u32) -> u32 {
        if self.stored.has(table) {
            return len_bytes;
        }
        scaled(len_bytes, self.metadata_ratio)
    }
}
