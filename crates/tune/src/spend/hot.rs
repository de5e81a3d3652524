//! The blocks that a start reads, and what storing each saves.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use coldpress_cost::Medium;
use coldpress_layout::{BlockEncoding, BlockGain, EncodingGain, Item, NodeId, Order, ReadCost};
use coldpress_trace::PAGE_SIZE_BYTES;
use coldpress_writer::SampledBlocks;

use super::Spending;
use crate::device::{Device, mean};

/// A block that a start reads, and what storing it saves.
pub(super) struct HotBlock {
    /// The file; of a fragment block the first of its files.
    pub(super) node: NodeId,
    pub(super) is_fragment: bool,
    pub(super) gain: BlockGain,
}

impl Spending<'_> {
    /// The blocks of the hot part of an order that the start reads.
    pub(super) fn hot_blocks(&self, order: &Order, blocks: &SampledBlocks<'_>) -> Vec<HotBlock> {
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
        let block_bytes = self.block_size.bytes();
        let saved_s = mean(self.devices, |place| {
            let Device {
                medium, machine, ..
            } = &self.devices[place];
            let speeds = &machine.speeds;
            let decompression_s = speeds.decompression_s(self.compressor, block_bytes, len_bytes);
            let copy_s = f64::from(len_bytes) / speeds.copy_bytes_per_s;
            read_cost(medium).saved_s(default_bytes, len_bytes, decompression_s - copy_s)
        });
        Some(BlockGain {
            path: path.to_vec(),
            block,
            default_bytes,
            choices: vec![EncodingGain {
                encoding: BlockEncoding::Stored,
                stored_bytes: len_bytes,
                saved_s,
            }],
        })
    }

    /// A path of each file that the start names.
    fn paths(&self) -> HashMap<NodeId, &[u8]> {
        let mut paths = HashMap::new();
        for path in &self.sequence.paths {
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
        for step in &self.sequence.steps {
            let path = self.sequence.paths.get(step.path);
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

fn read_cost(medium: &Medium) -> ReadCost {
    let limit = medium.limit_bytes_per_s.unwrap_or(f64::INFINITY);
    let interval_s = medium.reads_per_s.map_or(0.0, f64::recip);
    ReadCost {
        bandwidth_bytes_per_s: medium.bandwidth_bytes_per_s.min(limit),
        request_s: medium.request_s.max(interval_s),
        request_bytes: u32::try_from(medium.readahead_bytes).unwrap_or(u32::MAX),
        sector_bytes: medium.sector_bytes,
    }
}
