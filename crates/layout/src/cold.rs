//! The data that the plan does not name.
//!
//! It follows depth-first by name, as mksquashfs writes it: the blocks of a file, and its tail into
//! the fragment block that is being filled, which is written when it is full. Neighbors in the tree
//! are so neighbors in the image; if something unplanned is needed, what lies next to it is the
//! best guess for what comes next.

use crate::order::{Item, Placing};
use crate::tails::{Filling, Tails};
use crate::tree::NodeId;

/// A fragment block, and how many items of cold data stand before it.
struct Fragment {
    place: usize,
    members: Vec<NodeId>,
}

/// Places every file that has no place yet, behind what is placed.
pub(crate) fn place_rest(placing: &mut Placing<'_>) {
    let tree = placing.tree;
    let mut filling = Filling::new(placing.block_size);
    let mut fragments: Vec<Fragment> = Vec::new();
    let begin = placing.data.len();
    for (id, _) in tree.walk() {
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
            let place = placing.data.len() - begin;
            let begins = filling.add_tail(size_bytes);
            match fragments.last_mut() {
                Some(open) if !begins => {
                    open.place = place;
                    open.members.push(tail);
                }
                _ => fragments.push(Fragment {
                    place,
                    members: vec![tail],
                }),
            }
        }
    }
    let blocks = placing.data.split_off(begin);
    merge(&mut placing.data, blocks, fragments);
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
