//! The order of everything: a plan completed to the whole tree.

use std::collections::{BTreeMap, HashSet};

use coldpress_format::BlockSize;

use crate::block_encoding::{self, BlockEncoding, EncodedBlocks};
use crate::cold;
use crate::finder::Finder;
use crate::grouping::Grouping;
use crate::metadata;
use crate::plan::{Plan, PlanItem};
use crate::stable::{self, Keeping, Places};
use crate::tails::{Filling, Tails};
use crate::tree::{NodeId, Tree};

/// Where everything stands, by node.
///
/// Laws, whatever the plan:
/// - A regular file with at least one full block, or with data and its tail end in no fragment
///   item, has exactly one [`Item::Blocks`]; no other node has one, and a duplicate has no item at
///   all: naming it names the file whose data it has. A file that is kept has no item either.
/// - A tail end is in at most one [`Item::Fragment`], once. Fragment items are not empty, and the
///   tails of each add up to at most the block size. A tail in none is the file's last, short
///   block.
/// - `inodes` has every node exactly once, `directories` every directory. Both begin with a cold
///   part, which has the same directories in both. There an entry of a directory stands before
///   the directory, and its own listing too if it is one. What the plan names, and each directory
///   that names something of that, is in the hot part behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The data area.
    pub data: Vec<Item>,
    /// The inode table.
    pub inodes: Vec<NodeId>,
    /// How many of `inodes`, from the first on, are cold.
    pub cold_inodes: usize,
    /// The listings in the directory table.
    pub directories: Vec<NodeId>,
    /// How many of `directories`, from the first on, are cold.
    pub cold_directories: usize,
    /// How many items of `data`, from the first on, come from the plan.
    pub hot_items: usize,
    /// How blocks are packed, by their items' places in `data`. An item's ranges ascend and do not
    /// overlap. What is missing is packed as the image says; ask [`Order::encoding`].
    pub encoding: BTreeMap<usize, Vec<EncodedBlocks>>,
    /// At which bytes of the image items begin.
    pub alignment: Alignment,
}

/// At which bytes of an image items begin, modulo a number. What is not named begins where the item
/// before it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// The number; below 2 nothing is named.
    pub bytes: u64,
    /// By their places in [`Order::data`].
    pub starts: BTreeMap<usize, u64>,
    /// The byte of the image before which nothing of the data begins; at most 4 MiB.
    pub first_byte: u64,
}

impl Order {
    /// Lets the blocks of each file begin at a multiple of so many bytes, and none before
    /// `first_byte`: for images that are recorded from, of which each page is to be one file's.
    pub fn align_files(&mut self, bytes: u64, first_byte: u64) {
        let items = self.data.iter().enumerate();
        let files = items.filter(|(_, item)| matches!(item, Item::Blocks(_)));
        self.alignment = Alignment {
            bytes,
            starts: files.map(|(place, _)| (place, 0)).collect(),
            first_byte,
        };
    }

    /// How a block is packed.
    ///
    /// * `item`: the place of its item in `data`.
    /// * `block`: the number of the block in its file, 0 in a fragment item. A tail end that is in
    ///   no fragment item is the block behind the last full one.
    ///
    /// # Cost
    ///
    /// O(log n) in the items and the blocks that are packed specially.
    pub fn encoding(&self, item: usize, block: u64) -> BlockEncoding {
        let blocks = self.encoding.get(&item);
        blocks.map_or(BlockEncoding::Default, |blocks| {
            block_encoding::find(blocks, block)
        })
    }
}

/// Something in the data area that is read as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The full data blocks of a file, and its tail end if no fragment item has it.
    Blocks(NodeId),
    /// The files whose tail ends share one fragment block, in the order of their bytes in it.
    Fragment(Vec<NodeId>),
}

/// Completes a plan to the order of a whole tree.
///
/// Data that the plan names comes first, in its order. The rest follows depth-first, its data and
/// fragment blocks as mksquashfs would write them. Inodes and listings that the plan names come
/// last, in its order; before them lies the rest, children before parents.
///
/// A plan cannot be wrong enough to fail. What it repeats counts where it stands first; a
/// fragment that is too large is split; empty files and tails that do not exist are passed over. A
/// file that has become smaller than a block and is named by `blocks` alone is stored there as a
/// short block.
///
/// Returns the order, and the paths of the plan that name nothing that fits: no node, no regular
/// file for data, no directory for listings. Each comes once, in the order of the plan.
///
/// # Cost
///
/// O(n) in the nodes of the tree and the bytes of the plan's paths, and O(n log n) in its encoding;
/// 12 bytes for each entry of the tree if the plan names many.
pub fn order(
    tree: &Tree,
    plan: &Plan,
    block_size: BlockSize,
    tails: Tails,
) -> (Order, Vec<Vec<u8>>) {
    order_grouped(tree, plan, block_size, tails, Grouping::None)
}

/// Completes a plan as [`order`] does, but for the tail ends that share fragment blocks where the
/// plan does not say: they are grouped.
///
/// # Cost
///
/// As [`order`], and O(n log n) in the cold tail ends, which take some 200
/// bytes each meanwhile if they are compared.
pub fn order_grouped(
    tree: &Tree,
    plan: &Plan,
    block_size: BlockSize,
    tails: Tails,
    grouping: Grouping<'_>,
) -> (Order, Vec<Vec<u8>>) {
    order_keeping(tree, plan, block_size, tails, grouping, None)
}

/// Completes a plan as [`order_grouped`] does, but for what is kept of an older image: see
/// [`Keeping`]. What is wanted by the plan, and does not move, is where it was.
///
/// # Panics
///
/// If `keeping` has nodes that `tree` does not have.
///
/// # Cost
///
/// As [`order_grouped`], and O(n) in the older image.
pub fn order_keeping(
    tree: &Tree,
    plan: &Plan,
    block_size: BlockSize,
    tails: Tails,
    grouping: Grouping<'_>,
    keeping: Option<Keeping<'_>>,
) -> (Order, Vec<Vec<u8>>) {
    let keeping = keeping.filter(|keeping| !keeping.stability.is_zero());
    let mut unmatched = Unmatched::default();
    let finder = Finder::new(tree, plan);
    let named = resolve(&finder, plan, block_size, &mut unmatched);
    let mut placing = Placing::new(tree, block_size, tails);
    placing.place_named(&named);
    let mut hot_items = placing.data.len();
    let kept = keeping.map(|keeping| {
        let places = Places::new(keeping.former, tree.nodes.len());
        let wanted = std::mem::replace(&mut placing, Placing::new(tree, block_size, tails)).data;
        hot_items = stable::place(&mut placing, &wanted, &places, keeping.stability);
        (keeping, places)
    });
    cold::place_rest(&mut placing, grouping);
    let data = placing.data;
    let alignment = kept.map(|(keeping, places)| stable::alignment(&data, &places, keeping));
    let metadata = metadata::order(tree, &finder, plan, &mut unmatched);
    let rules = block_encoding::rules(&finder, plan, &mut unmatched);
    let order = Order {
        encoding: block_encoding::of_items(tree, &data, &rules, block_size),
        data,
        inodes: metadata.inodes,
        cold_inodes: metadata.cold_inodes,
        directories: metadata.directories,
        cold_directories: metadata.cold_directories,
        hot_items,
        alignment: alignment.unwrap_or_default(),
    };
    (order, unmatched.paths)
}

/// Paths of the plan that match nothing, each once.
#[derive(Default)]
pub(crate) struct Unmatched<'plan> {
    known: HashSet<&'plan [u8]>,
    paths: Vec<Vec<u8>>,
}

impl<'plan> Unmatched<'plan> {
    pub(crate) fn note(&mut self, path: &'plan [u8], is_unmatched: bool) {
        if is_unmatched && self.known.insert(path) {
            self.paths.push(path.to_vec());
        }
    }
}

/// The data of a plan by node: only files that have what the item is about.
fn resolve<'plan>(
    finder: &Finder<'_>,
    plan: &'plan Plan,
    block_size: BlockSize,
    unmatched: &mut Unmatched<'plan>,
) -> Vec<Item> {
    let mut find = |path: &'plan [u8]| {
        let found = finder.file(path);
        unmatched.note(path, found.is_none());
        found
    };
    let mut named = Vec::new();
    for item in &plan.data {
        match item {
            PlanItem::Blocks(path) => {
                let file = find(path).filter(|&(_, size_bytes)| size_bytes > 0);
                named.extend(file.map(|(id, _)| Item::Blocks(id)));
            }
            PlanItem::Fragment(paths) => {
                let files = paths.iter().filter_map(|path| find(path));
                let files = files.filter(|&(_, size)| block_size.tail_bytes(size) > 0);
                named.push(Item::Fragment(files.map(|(id, _)| id).collect()));
            }
        }
    }
    named
}

/// The data area while it is laid out.
pub(crate) struct Placing<'tree> {
    pub(crate) tree: &'tree Tree,
    pub(crate) block_size: BlockSize,
    pub(crate) tails: Tails,
    pub(crate) data: Vec<Item>,
    /// By node: has an item of its own.
    ///
    /// What the image has already counts as placed, here and below.
    pub(crate) has_blocks: Vec<bool>,
    /// By node, but not of duplicate tail ends: the tail end is in a fragment item.
    pub(crate) has_fragment: Vec<bool>,
}

impl<'tree> Placing<'tree> {
    fn new(tree: &'tree Tree, block_size: BlockSize, tails: Tails) -> Self {
        let count = tree.nodes.len();
        let mut is_placed = vec![false; count];
        is_placed[tree.first_kept.map_or(count, NodeId::index)..].fill(true);
        Self {
            tree,
            block_size,
            tails,
            data: Vec::new(),
            has_blocks: is_placed.clone(),
            has_fragment: is_placed,
        }
    }

    /// The length of a file; of other nodes, which have no data, 0.
    pub(crate) fn size_bytes(&self, id: NodeId) -> u64 {
        self.tree.file_size(id).unwrap_or(0)
    }

    /// Whether a file has no full block.
    pub(crate) fn is_all_tail(&self, id: NodeId) -> bool {
        self.block_size.full_blocks(self.size_bytes(id)) == 0
    }

    /// Places what the plan names, in its order.
    fn place_named(&mut self, named: &[Item]) {
        let mut in_blocks = vec![false; self.tree.nodes.len()];
        let mut in_fragment = vec![false; self.tree.nodes.len()];
        for item in named {
            let (has, ids) = match item {
                Item::Blocks(id) => (&mut in_blocks, std::slice::from_ref(id)),
                Item::Fragment(members) => (&mut in_fragment, members.as_slice()),
            };
            for id in ids {
                has[id.index()] = true;
            }
        }
        let packs = self.tails != Tails::None;
        for item in named {
            match item {
                // A file that is all tail stands where its tail does.
                &Item::Blocks(id) => {
                    if !(packs && in_fragment[id.index()] && self.is_all_tail(id)) {
                        self.place_blocks(id);
                    }
                }
                Item::Fragment(members) if packs => self.place_fragment(members),
                // Without fragments a tail goes where the plan has the file's blocks.
                Item::Fragment(members) => {
                    for &id in members.iter().filter(|id| !in_blocks[id.index()]) {
                        self.place_blocks(id);
                    }
                }
            }
        }
    }

    /// Gives a file its own item, if it has none.
    pub(crate) fn place_blocks(&mut self, id: NodeId) {
        if !std::mem::replace(&mut self.has_blocks[id.index()], true) {
            self.data.push(Item::Blocks(id));
        }
    }

    /// Whether a file that is all tail has a place in a fragment item.
    pub(crate) fn is_packed(&self, id: NodeId) -> bool {
        self.is_all_tail(id) && self.has_fragment[self.tree.tail_of(id).index()]
    }

    /// Whether a file that is all tail has an item of its own.
    pub(crate) fn is_stored(&self, id: NodeId) -> bool {
        self.is_all_tail(id) && self.has_blocks[id.index()]
    }

    /// Notes that a tail end has a place; returns whether it had one.
    pub(crate) fn take_tail(&mut self, id: NodeId) -> bool {
        std::mem::replace(&mut self.has_fragment[id.index()], true)
    }

    /// Packs the tails that are not packed yet, in as many fragment items as it takes.
    pub(crate) fn place_fragment(&mut self, members: &[NodeId]) {
        let mut filling = Filling::new(self.block_size);
        for &id in members {
            let id = self.tree.tail_of(id);
            if self.take_tail(id) {
                continue;
            }
            let begins = filling.add_tail(self.size_bytes(id));
            match self.data.last_mut() {
                Some(Item::Fragment(open)) if !begins => open.push(id),
                _ => self.data.push(Item::Fragment(vec![id])),
            }
        }
    }
}
