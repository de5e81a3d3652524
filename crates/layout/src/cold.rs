//! The data that the plan does not name.
//!
//! It follows depth-first by name, as mksquashfs writes it: the blocks of a file, and its tail into
//! the fragment block that is being filled, which is written when it is full. Neighbors in the tree
//! are so neighbors in the image; if something unplanned is needed, what lies next to it is the
//! best guess for what comes next.
//!
//! Tails that are grouped otherwise ([`Grouping`]) leave their neighbors to share a block with what
//! is similar.

use crate::grouping::{ColdTail, Grouping};
use crate::order::{Item, Placing};
use crate::tails::{Filling, Tails};
use crate::tree::NodeId;

/// A fragment block, and how many items of cold data stand before it.
struct Fragment {
    place: usize,
    members: Vec<NodeId>,
}

/// Places every file that has no place yet, behind what is placed.
pub(crate) fn place_rest(placing: &mut Placing<'_>, grouping: Grouping<'_>) {
    let begin = placing.data.len();
    let mut tails = place_blocks(placing);
    grouping.arrange(placing.tree, &mut tails);
    let fragments = pack(placing, &tails);
    let blocks = placing.data.split_off(begin);
    merge(&mut placing.data, blocks, fragments);
}

/// Places the blocks of files; returns the tail ends that go into fragment blocks, in the order of
/// the tree.
fn place_blocks<'tree>(placing: &mut Placing<'tree>) -> Vec<ColdTail<'tree>> {
    let tree = placing.tree;
    let begin = placing.data.len();
    let mut tails = Vec::new();
    for (id, met) in tree.walk() {
        let id = tree.data_of(id);
        let Some(size_bytes) = tree.file_size(id).filter(|&size_bytes| size_bytes > 0) else {
            continue;
        };
        let is_packed_here = is_packed_here(placing, id, size_bytes);
        let tail = tree.tail_of(id);
        placing.has_fragment[tail.index()] |= is_packed_here;
        if !(placing.is_all_tail(id) && placing.has_fragment[tail.index()]) {
            placing.place_blocks(id);
        }
        if is_packed_here {
            tails.push(ColdTail {
                node: tail,
                name: met.name,
                place: placing.data.len() - begin,
            });
        }
    }
    tails
}

/// Fills fragment blocks with tails in their order. A block stands behind all that its members and
/// the blocks before it stand behind.
fn pack(placing: &Placing<'_>, tails: &[ColdTail<'_>]) -> Vec<Fragment> {
    let mut filling = Filling::new(placing.block_size);
    let mut fragments: Vec<Fragment> = Vec::new();
    let mut place = 0;
    for tail in tails {
        place = place.max(tail.place);
        // The tail of a duplicate has the same length, if not the file.
        let begins = filling.add_tail(placing.size_bytes(tail.node));
        match fragments.last_mut() {
            Some(open) if !begins => {
                open.place = place;
                open.members.push(tail.node);
            }
            _ => fragments.push(Fragment {
                place,
                members: vec![tail.node],
            }),
        }
    }
    fragments
}

/// Whether the tail end goes into a fragment block of the cold data.
fn is_packed_here(placing: &Placing<'_>, id: NodeId, size_bytes: u64) -> bool {
    let is_all_tail = placing.is_all_tail(id);
    let is_wanted = match placing.tails {
        Tails::None => false,
        Tails::Small => is_all_tail,
        Tails::All => true,
    };
    // The plan may have given a short file a block of its own.
    let is_stored = is_all_tail && placing.has_blocks[id.index()];
    is_wanted
        && !is_stored
        && !placing.has_fragment[placing.tree.tail_of(id).index()]
        && placing.block_size.tail_bytes(size_bytes) > 0
}

/// Puts each fragment block behind the item of its last member.
fn merge(data: &mut Vec<Item>, blocks: Vec<Item>, fragments: Vec<Fragment>) {
    let mut fragments = fragments.into_iter().peekable();
    for (item, place) in blocks.into_iter().zip(0..) {
        while let Some(fragment) = fragments.next_if(|fragment| fragment.place <= place) {
            data.push(Item::Fragment(fragment.members));
        }
        data.push(item);
    }
    data.extend(fragments.map(|fragment| Item::Fragment(fragment.members)));
}
