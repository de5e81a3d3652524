//! What lies together in blocks: the same for all candidates with one block size and one way with
//! tail ends.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use coldpress_assemble::{Duplicates, packed_tails};
use coldpress_format::BlockSize;
use coldpress_layout::{Group, Item, NodeId, Order, Plan, Sketches, Tails, Tree, order_grouped};

use crate::error::Error;
use crate::options::Options;
use crate::progress::Progress;
use crate::source::Source;

/// What candidates have in common that have the same blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) block_size: BlockSize,
    pub(super) tails: Tails,
    pub(super) group: Group,
    pub(super) deduplicated: bool,
}

impl Shape {
    pub(super) fn of(options: &Options) -> Self {
        Self {
            block_size: options.block_size,
            tails: options.tails,
            group: options.group,
            deduplicated: options.deduplicated,
        }
    }
}

#[derive(Debug)]
pub(super) struct Geometry {
    pub(super) block_size: BlockSize,
    pub(super) order: Order,
    /// Of tail ends, if they are grouped by them.
    pub(super) sketches: Sketches,
    /// For each node whether its tail end is in a fragment block.
    pub(super) packed: Vec<bool>,
    /// Files whose tail end is that of another.
    pub(super) duplicate_tails: BTreeMap<NodeId, NodeId>,
}

impl Geometry {
    pub(super) fn new(
        source: &Source,
        plan: &Plan,
        shape: Shape,
        threads: NonZeroUsize,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Self, Error> {
        let Shape {
            block_size,
            tails,
            group,
            deduplicated,
        } = shape;
        // Those that the source knows of, if any, are for one block size.
        let duplicate_tails = if deduplicated && tails == Tails::All {
            source.duplicate_tails(block_size, threads, progress)?
        } else {
            BTreeMap::new()
        };
        let sketches = match group {
            Group::Similar => source.sketch_tails(block_size, tails, threads, progress)?,
            _ => Sketches::new(),
        };
        let tree = Tree {
            duplicate_tails,
            ..source.tree.clone()
        };
        let grouping = group.with(&sketches);
        let (order, _) = order_grouped(&tree, plan, block_size, tails, grouping);
        Ok(Self {
            block_size,
            packed: packed_tails(tree.nodes.len(), &order.data, Duplicates::of(&tree)),
            duplicate_tails: tree.duplicate_tails,
            order,
            sketches,
        })
    }

    /// The members of each fragment block.
    pub(super) fn fragments(&self) -> impl Iterator<Item = &[NodeId]> {
        self.order.data.iter().filter_map(|item| match item {
            Item::Fragment(members) => Some(members.as_slice()),
            Item::Blocks(_) => None,
        })
    }

    /// The files that have blocks of their own.
    pub(super) fn files(&self) -> impl Iterator<Item = NodeId> {
        self.order.data.iter().filter_map(|item| match item {
            Item::Blocks(node) => Some(*node),
            Item::Fragment(_) => None,
        })
    }

    /// How many blocks of its own a file of `size_bytes` has.
    pub(super) fn block_count(&self, node: NodeId, size_bytes: u64) -> u64 {
        let full = self.block_size.full_blocks(size_bytes);
        let has_tail = self.block_size.tail_bytes(size_bytes) > 0 && !self.packed[node.index()];
        full + u64::from(has_tail)
    }
}
