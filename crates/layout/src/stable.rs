//! An order that keeps what an older image has, so that updates from it stay small.
//!
//! What did not change may stay where it was, in its old neighborhood and, if all tail ends of a
//! fragment block are unchanged, in its old block. Or it moves to the front of the image, where a
//! plan wants it. Which is better for each is decided together: the order minimizes
//!
//! ```text
//! (1 - stability) * bytes that the start reads  +  stability * bytes that the update transfers
//! ```
//!
//! over all choices of what moves. A jump of the start costs [`JUMP_BYTES`], a block that moves what
//! an updater needs to find it again, [`BOUNDARY_BYTES`], and a tail end that leaves its fragment
//! block all of that. In the order of the plan, whether a thing moves matters only for its
//! neighbors, so the least cost is found in one pass, as a shortest path through two states.
//!
//! What changed and what is new is transferred anyway, and goes where the start wants it; what no
//! start wants stands in its old place or at the end. Tail ends that changed share fragment blocks
//! with their like: what changed once changes again, and then takes no others with it.
//!
//! Inodes and listings follow the plan: they state positions, so their tables change with every
//! shift, and are less than a hundredth of what updates transfer.

mod alignment;
mod choice;

use std::collections::HashSet;

use coldpress_format::BlockSize;

use crate::order::{Item, Placing};
use crate::tails::{Filling, Tails};
use crate::tree::{NodeId, Tree};

pub(crate) use alignment::alignment;
use choice::moved;

/// What a jump costs a start, in bytes that it could have read: the kernel's readahead of 128 KiB.
const JUMP_BYTES: u64 = 128 << 10;

/// What an updater transfers because a block has other neighbors: half of a chunk of casync, which
/// has 64 KiB on average, on both sides. zsync and RAUC need less.
const BOUNDARY_BYTES: u64 = 64 << 10;

/// What an older image has in its data area, by the nodes of a new tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Former {
    /// By position. Each names files of the tree that have such data, no duplicates.
    items: Vec<FormerItem>,
}

impl Former {
    /// Of items in any order. What names files that have no such data is left out, and of
    /// duplicates the file is taken that has their data.
    ///
    /// # Panics
    ///
    /// If an item has a node that `tree` does not have.
    pub fn new(tree: &Tree, block_size: BlockSize, mut items: Vec<FormerItem>) -> Self {
        let size_bytes = |id| tree.file_size(id).unwrap_or(0);
        items.retain_mut(|former| match &mut former.item {
            Item::Blocks(id) => {
                *id = tree.data_of(*id);
                size_bytes(*id) > 0
            }
            Item::Fragment(members) => {
                let all = members.len();
                let mut seen = HashSet::new();
                for id in members.iter_mut() {
                    *id = tree.tail_of(*id);
                }
                members.retain(|id| block_size.tail_bytes(size_bytes(*id)) > 0 && seen.insert(*id));
                former.is_same &= members.len() == all;
                !members.is_empty()
            }
        });
        items.sort_by_key(|former| former.start);
        Self { items }
    }
}

/// Something that an older image has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerItem {
    /// What of the new tree is there: a file at the same path, or the tail ends of a fragment block
    /// that did not change.
    pub item: Item,
    /// Image byte at which it begins.
    pub start: u64,
    /// Bytes that it takes in the image.
    pub size_bytes: u64,
    /// Whether the new tree has all of it, unchanged.
    pub is_same: bool,
}

/// How much less an update counts for than a start, or more: 0 is the order of the plan alone, 1
/// moves nothing that did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stability {
    thousandths: u16,
}

impl Stability {
    /// Nothing moves that did not change.
    pub const MAX: Self = Self { thousandths: 1000 };

    /// A share from 0 to 1, as exact as thousandths are; `None` for other numbers.
    pub fn new(share: f64) -> Option<Self> {
        let thousandths = (share * 1000.0).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to 1000"
        )]
        (0.0..=1000.0).contains(&thousandths).then_some(Self {
            thousandths: thousandths as u16,
        })
    }

    /// What `text` says, for command lines.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let share = text.parse().ok().and_then(Self::new);
        share.ok_or("it must be a number from 0 to 1")
    }

    /// Whether the older image does not count.
    pub fn is_zero(self) -> bool {
        self.thousandths == 0
    }

    /// The cost of a start and an update together.
    fn weigh(self, read_bytes: u64, update_bytes: u64) -> u128 {
        let (read, update) = (u128::from(read_bytes), u128::from(update_bytes));
        let stability = u128::from(self.thousandths);
        read * (1000 - stability) + update * stability
    }
}

/// What is kept of an older image, and how it is weighed.
#[derive(Clone, Copy, Debug)]
pub struct Keeping<'a> {
    /// What the older image has.
    pub former: &'a Former,
    /// How much an update counts.
    pub stability: Stability,
    /// What stays begins at the same byte as it did, modulo this power of two; 0 or 1: anywhere.
    pub align_bytes: u64,
}

/// Where nodes are in an older image.
pub(crate) struct Places<'a> {
    former: &'a [FormerItem],
    /// By node: the item with its blocks, with its tail end.
    blocks: Vec<Option<u32>>,
    tails: Vec<Option<u32>>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(former: &'a Former, nodes: usize) -> Self {
        let mut places = Self {
            former: &former.items,
            blocks: vec![None; nodes],
            tails: vec![None; nodes],
        };
        for (item, index) in former.items.iter().zip(0..) {
            let (places, ids) = match &item.item {
                Item::Blocks(id) => (&mut places.blocks, std::slice::from_ref(id)),
                Item::Fragment(members) => (&mut places.tails, members.as_slice()),
            };
            for id in ids {
                places[id.index()].get_or_insert(index);
            }
        }
        places
    }

    fn item(&self, index: u32) -> &'a FormerItem {
        &self.former[index as usize]
    }

    /// The item with the blocks of a file.
    fn of_blocks(&self, id: NodeId) -> Option<u32> {
        self.blocks[id.index()]
    }

    /// The fragment block with a tail end that did not change.
    fn of_tail(&self, id: NodeId) -> Option<u32> {
        self.tails[id.index()]
    }

    /// What is unchanged and has a tail end: its fragment block, or the blocks of its file.
    fn same_with_tail(&self, id: NodeId) -> Option<u32> {
        let index = self.of_tail(id).or_else(|| self.of_blocks(id));
        index.filter(|index| self.item(*index).is_same)
    }

    /// What has the item of a wanted order: for tail ends, of the member.
    fn of(&self, wanted: &Item, member: NodeId) -> Option<u32> {
        match wanted {
            Item::Blocks(id) => self.of_blocks(*id).or_else(|| self.same_with_tail(*id)),
            Item::Fragment(_) => self.same_with_tail(member),
        }
    }
}

/// The nodes of an item.
fn members(item: &Item) -> &[NodeId] {
    match item {
        Item::Blocks(id) => std::slice::from_ref(id),
        Item::Fragment(members) => members,
    }
}

/// Places what moves to the front, and behind it what stays. What has no place then is new and
/// wanted by nobody. Returns how many items are at the front.
///
/// * `wanted`: what a plan wants at the front, in its order.
pub(crate) fn place(
    placing: &mut Placing<'_>,
    wanted: &[Item],
    places: &Places<'_>,
    stability: Stability,
) -> usize {
    let moved = moved(placing, wanted, places, stability);
    let mut front = Front {
        places,
        moved: &moved,
        changed: Packing::new(placing),
        settled: Packing::new(placing),
    };
    for item in wanted {
        front.place(placing, item);
    }
    let front_items = placing.data.len();
    place_former(placing, places, &moved);
    front_items
}

/// What becomes of an item of the older image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    /// It goes to the front as it is.
    Moves,
    /// Tail ends that are wanted go to the front, the others stay without them.
    Dissolves,
}

/// The front of an image while it is laid out.
struct Front<'a> {
    places: &'a Places<'a>,
    moved: &'a [Fate],
    /// Fragment blocks of tail ends that changed.
    changed: Packing,
    /// Fragment blocks of tail ends that did not change, and lost their block.
    settled: Packing,
}

impl Front<'_> {
    fn place(&mut self, placing: &mut Placing<'_>, wanted: &Item) {
        for id in members(wanted) {
            let place = self.places.of(wanted, *id);
            let fate = place.map(|index| (self.moved[index as usize], self.places.item(index)));
            match (fate, wanted) {
                (Some((Fate::Stays, _)), _) => {}
                (Some((Fate::Moves, former)), _) => place_whole(placing, &former.item),
                (_, Item::Blocks(id)) => place_blocks(placing, *id),
                (Some((Fate::Dissolves, _)), Item::Fragment(_)) => self.settled.add(placing, *id),
                (None, Item::Fragment(_)) => {
                    let is_settled = self.places.of_tail(placing.tree.tail_of(*id)).is_some();
                    let packing = if is_settled {
                        &mut self.settled
                    } else {
                        &mut self.changed
                    };
                    packing.add(placing, *id);
                }
            }
        }
    }
}

/// Places an item as it was.
fn place_whole(placing: &mut Placing<'_>, item: &Item) {
    match item {
        Item::Blocks(id) => place_blocks(placing, *id),
        Item::Fragment(members) => {
            let mut members = members.clone();
            members.retain(|id| !placing.is_stored(*id));
            placing.place_fragment(&members);
        }
    }
}

/// Gives a file its own item, unless it has no data, or all of it is in a fragment item.
fn place_blocks(placing: &mut Placing<'_>, id: NodeId) {
    if placing.size_bytes(id) > 0 && !placing.is_packed(id) {
        placing.place_blocks(id);
    }
}

/// Places what is left of an older image in its order.
fn place_former(placing: &mut Placing<'_>, places: &Places<'_>, moved: &[Fate]) {
    let mut settled = Packing::new(placing);
    for (former, fate) in places.former.iter().zip(moved) {
        match &former.item {
            // One that became shorter than a block is packed with others that changed.
            Item::Blocks(id) if former.is_same || !placing.is_all_tail(*id) => {
                place_blocks(placing, *id);
            }
            Item::Fragment(_) if placing.tails == Tails::None => {}
            Item::Fragment(_) if former.is_same && *fate == Fate::Stays => {
                place_whole(placing, &former.item);
            }
            Item::Fragment(members) => {
                for id in members {
                    settled.add(placing, *id);
                }
            }
            Item::Blocks(_) => {}
        }
    }
}

/// A fragment block that is being filled, wherever it stands.
struct Packing {
    filling: Filling,
    /// Its place in the data area.
    place: usize,
}

impl Packing {
    fn new(placing: &Placing<'_>) -> Self {
        Self {
            filling: Filling::new(placing.block_size),
            place: 0,
        }
    }

    /// Adds a tail end that has no place yet.
    fn add(&mut self, placing: &mut Placing<'_>, id: NodeId) {
        let id = placing.tree.tail_of(id);
        let size_bytes = placing.size_bytes(id);
        let is_empty = placing.block_size.tail_bytes(size_bytes) == 0;
        if is_empty || placing.is_stored(id) || placing.take_tail(id) {
            return;
        }
        if self.filling.add_tail(size_bytes) {
            self.place = placing.data.len();
            placing.data.push(Item::Fragment(vec![id]));
        } else if let Some(Item::Fragment(members)) = placing.data.get_mut(self.place) {
            members.push(id);
        }
    }
}
