//! Zeros before what shall begin at certain bytes of the image.

use std::collections::HashMap;

use coldpress_layout::{Item, NodeId, Order};

use super::worker::Piece;

/// The greatest alignment: that of the largest block.
const ALIGN_MAX: u64 = 1 << 20;

/// The greatest place for the first block.
const FIRST_MAX: u64 = 4 << 20;

/// Where items of an order begin.
pub(super) struct Aligning {
    bytes: u64,
    /// Modulo that: the blocks of files, and fragment blocks by their first member.
    blocks: HashMap<NodeId, u64>,
    fragments: HashMap<NodeId, u64>,
    first_byte: u64,
}

impl Aligning {
    pub(super) fn new(order: &Order) -> Self {
        let mut aligning = Self {
            bytes: order.alignment.bytes.clamp(1, ALIGN_MAX),
            blocks: HashMap::new(),
            fragments: HashMap::new(),
            first_byte: order.alignment.first_byte.min(FIRST_MAX),
        };
        for (place, start) in &order.alignment.starts {
            match order.data.get(*place) {
                Some(Item::Blocks(node)) => {
                    aligning.blocks.insert(*node, *start);
                }
                Some(Item::Fragment(members)) => {
                    let first = members.first().map(|node| (*node, *start));
                    aligning.fragments.extend(first);
                }
                None => {}
            }
        }
        aligning
    }

    /// The zeros before a block that would begin at `end`: none, but for some blocks.
    pub(super) fn gap(&self, piece: &Piece, end: u64) -> Vec<u8> {
        let start = match piece {
            Piece::Block { node, offset: 0 } => self.blocks.get(node),
            Piece::Block { .. } => None,
            Piece::Fragment(members) => {
                let first = members.first();
                first.and_then(|(node, _)| self.fragments.get(node))
            }
        };
        let first = self.first_byte.saturating_sub(end);
        let gap = start.map_or(0, |start| {
            let end = end + first;
            (start % self.bytes + self.bytes - end % self.bytes) % self.bytes
        });
        let gap = first + gap;
        vec![0; usize::try_from(gap).unwrap_or_default()]
    }
}
