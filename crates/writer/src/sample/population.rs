//! Blocks that are sampled together, and where their bytes are.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use coldpress_format::BlockSize;
use coldpress_layout::NodeId;

use super::surveyed::Surveyed;
use crate::reader::{self, Opening};
use crate::source::Source;

#[derive(Clone, Debug)]
pub(super) struct Population {
    /// That of the image, which encoders depend on.
    pub(super) block_size: BlockSize,
    pub(super) blocks: Vec<Surveyed>,
    pub(super) content: Content,
}

/// Where the bytes of the blocks are.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// Data blocks, those of a file one after the other, and behind them fragment blocks.
    Data {
        /// The place of the first block of each file, ascending.
        files: Vec<(usize, NodeId)>,
        /// The place of the first fragment block.
        fragments_start: usize,
        /// For each fragment block the files whose tail ends it holds.
        fragments: Vec<Vec<NodeId>>,
    },
    /// Metadata blocks: the bytes of those that are sampled.
    Metadata(BTreeMap<usize, Vec<u8>>),
}

impl Population {
    pub(super) fn is_metadata(&self) -> bool {
        matches!(self.content, Content::Metadata(_))
    }

    /// The places of the blocks of each file. The tail end is the last one.
    pub(super) fn files(&self) -> HashMap<NodeId, Range<usize>> {
        let Content::Data {
            files,
            fragments_start,
            ..
        } = &self.content
        else {
            return HashMap::new();
        };
        let ends = files.iter().skip(1).map(|(start, _)| *start);
        let ends = ends.chain([*fragments_start]);
        let files = files.iter().zip(ends);
        files
            .map(|((start, node), end)| (*node, *start..end))
            .collect()
    }

    /// The files whose tail ends a fragment block holds; none of other blocks.
    pub(super) fn members(&self, block: usize) -> &[NodeId] {
        match &self.content {
            Content::Data {
                fragments_start,
                fragments,
                ..
            } => {
                let fragment = block.checked_sub(*fragments_start);
                let members = fragment.and_then(|fragment| fragments.get(fragment));
                members.map_or(&[], Vec::as_slice)
            }
            Content::Metadata(_) => &[],
        }
    }

    /// The bytes of a block. What cannot be read of a file is zeros; that is told when the image is
    /// written.
    pub(super) fn read(&self, source: &Source, block: usize, bytes: &mut Vec<u8>) {
        let len_bytes = self.blocks[block].len_bytes;
        match &self.content {
            Content::Data {
                fragments_start, ..
            } if block >= *fragments_start => {
                read_tails(source, self.block_size, self.members(block), bytes);
            }
            Content::Data { files, .. } => {
                let file = files.partition_point(|(start, _)| *start <= block) - 1;
                let (start, node) = files[file];
                let offset = (block - start) as u64 * u64::from(self.block_size.bytes());
                let _ = Opening::new(source, node).read(offset, len_bytes, bytes);
            }
            Content::Metadata(contents) => {
                bytes.clear();
                bytes.extend_from_slice(&contents[&block]);
            }
        }
        bytes.resize(len_bytes as usize, 0);
    }
}

/// The bytes of a fragment block, as far as they can be read.
pub(super) fn read_tails(
    source: &Source,
    block_size: BlockSize,
    members: &[NodeId],
    bytes: &mut Vec<u8>,
) {
    bytes.clear();
    for node in members {
        // What cannot be read is told when the image is written.
        let _ = reader::append_tail(source, *node, block_size, bytes);
    }
}
