//! The laws of `Order`, for any tree and any plan.

use coldpress_format::BlockSize;
use coldpress_layout::{
    BlockEncoding, Item, NodeId, Order, Plan, PlanItem, Tails, Tree, order, plan,
};
use coldpress_trace::Profile;
use proptest::prelude::*;

use crate::plans::{data_paths, tree_and_garbage, tree_and_trace};

/// The first law that an order breaks.
pub(crate) fn check(tree: &Tree, block_size: BlockSize, order: &Order) -> Result<(), String> {
    let mut blocks = vec![0; tree.nodes.len()];
    let mut tails = vec![0; tree.nodes.len()];
    for item in &order.data {
        match item {
            Item::Blocks(id) => blocks[id.index()] += 1,
            Item::Fragment(members) => {
                let tail = |id: &NodeId| block_size.tail_bytes(tree.file_size(*id).unwrap_or(0));
                if members.is_empty() || members.iter().any(|id| tail(id) == 0) {
                    return Err(format!("no tails: {members:?}"));
                }
                if members.iter().map(tail).sum::<u32>() > block_size.bytes() {
                    return Err(format!("too large: {members:?}"));
                }
                for id in members {
                    tails[id.index()] += 1;
                }
            }
        }
    }
    for id in (0..).map(NodeId).take(tree.nodes.len()) {
        let size_bytes = tree.file_size(id).unwrap_or(0);
        let tail = tails[id.index()];
        let is_own = block_size.full_blocks(size_bytes) > 0 || size_bytes > 0 && tail == 0;
        if tail > 1 || blocks[id.index()] != i32::from(is_own) {
            let blocks = blocks[id.index()];
            return Err(format!(
                "{id:?} of {size_bytes} bytes: {blocks} blocks, {tail} tails"
            ));
        }
    }
    let sorted = |ids: &[NodeId]| {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids
    };
    let all = (0..).map(NodeId).take(tree.nodes.len());
    if sorted(&order.inodes) != all.clone().collect::<Vec<_>>() {
        return Err(format!("inodes: {:?}", order.inodes));
    }
    let directories: Vec<_> = all.filter(|&id| tree.is_directory(id)).collect();
    if sorted(&order.directories) != directories {
        return Err(format!("directories: {:?}", order.directories));
    }
    check_cold(tree, order)
}

/// Whether the cold parts of both tables refer to what is in front of them only.
fn check_cold(tree: &Tree, order: &Order) -> Result<(), String> {
    let inodes = &order.inodes[..order.cold_inodes];
    let listings = &order.directories[..order.cold_directories];
    let directories = inodes.iter().filter(|id| tree.is_directory(**id));
    if directories.clone().count() != listings.len() {
        return Err(format!("cold directories: {listings:?} of {inodes:?}"));
    }
    let place = |ids: &[NodeId], id| ids.iter().position(|other| *other == id);
    for id in directories {
        let before = place(inodes, *id);
        let listing = place(listings, *id);
        for (_, child) in tree.entries(*id) {
            let is_behind = place(inodes, *child).is_none_or(|child| Some(child) > before);
            let is_listed_behind = tree.is_directory(*child) && place(listings, *child) > listing;
            if is_behind || is_listed_behind || listing.is_none() {
                return Err(format!("{child:?} is behind its directory {id:?}"));
            }
        }
    }
    Ok(())
}

/// Whether the tails that share a fragment are those that the policy allows.
pub(crate) fn check_tails(tree: &Tree, block_size: BlockSize, order: &Order, tails: Tails) -> bool {
    let is_small = |id: &NodeId| tree.file_size(*id) < Some(block_size.bytes().into());
    let mut packed: Vec<&NodeId> = Vec::new();
    for (item, place) in order.data.iter().zip(0..) {
        if let Item::Fragment(members) = item {
            let is_cold = place >= order.hot_items;
            if tails == Tails::None
                || tails == Tails::Small && is_cold && !members.iter().all(is_small)
            {
                return false;
            }
            packed.extend(members);
        }
    }
    packed.sort_unstable();
    let has_tail = |id: &NodeId| block_size.tail_bytes(tree.file_size(*id).unwrap_or(0)) > 0;
    let in_blocks = |id: &NodeId| order.data[..order.hot_items].contains(&Item::Blocks(*id));
    let is_right = |id: NodeId| match tails {
        Tails::None => true,
        // A short file that the plan lists as blocks is stored as such.
        _ if is_small(&id) && in_blocks(&id) => true,
        Tails::Small => !is_small(&id) || packed.binary_search(&&id).is_ok(),
        Tails::All => packed.binary_search(&&id).is_ok(),
    };
    (0..)
        .map(NodeId)
        .take(tree.nodes.len())
        .filter(has_tail)
        .all(is_right)
}

/// The encoding of a block by the definition: the first rule for its file that names it.
fn encoding_by_rules(tree: &Tree, plan: &Plan, node: NodeId, block: u64) -> BlockEncoding {
    let is_for = |path: &[u8]| tree.find(path).is_some_and(|id| tree.data_of(id) == node);
    let rules = plan.encoding.iter().filter(|rule| is_for(&rule.path));
    let mut rules = rules.filter(|rule| {
        rule.blocks.is_empty() || rule.blocks.iter().any(|range| range.contains(&block))
    });
    rules
        .next()
        .map_or(BlockEncoding::Default, |rule| rule.encoding)
}

/// The encoding of an item's block, by the definition.
fn encoding(
    tree: &Tree,
    plan: &Plan,
    block_size: BlockSize,
    item: &Item,
    block: u64,
) -> BlockEncoding {
    let tail = |id: NodeId| {
        let tail = block_size.full_blocks(tree.file_size(id).expect("a file"));
        encoding_by_rules(tree, plan, id, tail)
    };
    match item {
        Item::Blocks(id) => encoding_by_rules(tree, plan, *id, block),
        Item::Fragment(ids) => {
            let mut encodings = ids.iter().map(|id| tail(*id));
            let first = encodings.find(|encoding| *encoding != BlockEncoding::Default);
            first.unwrap_or_default()
        }
    }
}

pub(crate) fn tails() -> impl Strategy<Value = Tails> {
    prop_oneof![Just(Tails::None), Just(Tails::Small), Just(Tails::All)]
}

/// Paths of the plan that name nothing which fits, by the definition.
fn unmatched(tree: &Tree, plan: &Plan) -> Vec<Vec<u8>> {
    let is_file = |path: &Vec<u8>| {
        tree.find(path)
            .is_some_and(|id| tree.file_size(id).is_some())
    };
    let is_directory = |path: &Vec<u8>| tree.find(path).is_some_and(|id| tree.is_directory(id));
    let data = data_paths(plan).filter(|path| !is_file(path));
    let inodes = plan.inodes.iter().filter(|path| tree.find(path).is_none());
    let directories = plan.directories.iter().filter(|path| !is_directory(path));
    let mut paths: Vec<Vec<u8>> = Vec::new();
    let encoding = plan.encoding.iter().map(|rule| &rule.path);
    let encoding = encoding.filter(|path| !is_file(path));
    for path in data.chain(inodes).chain(directories).chain(encoding) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}

proptest! {
    #[test]
    fn any_plan_gives_a_lawful_order(
        (tree, plan) in tree_and_garbage(BlockSize::MIN),
        tails in tails(),
    ) {
        let (order, rest) = order(&tree, &plan, BlockSize::MIN, tails);
        prop_assert_eq!(check(&tree, BlockSize::MIN, &order), Ok(()));
        prop_assert!(check_tails(&tree, BlockSize::MIN, &order, tails));
        prop_assert_eq!(rest, unmatched(&tree, &plan));
    }

    #[test]
    fn each_block_is_packed_as_the_first_rule_for_it_says(
        (tree, plan) in tree_and_garbage(BlockSize::MIN),
        tails in tails(),
    ) {
        let (order, _) = order(&tree, &plan, BlockSize::MIN, tails);
        for (place, item) in order.data.iter().enumerate() {
            let blocks = match item {
                Item::Blocks(_) => vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1000, u64::MAX],
                Item::Fragment(_) => vec![0],
            };
            for block in blocks {
                let expected = encoding(&tree, &plan, BlockSize::MIN, item, block);
                prop_assert_eq!(order.encoding(place, block), expected);
            }
        }
        let is_plain = |(_, encoding): &(_, BlockEncoding)| *encoding == BlockEncoding::Default;
        prop_assert!(!order.encoding.values().flatten().any(is_plain));
        prop_assert!(order.encoding.keys().all(|place| *place < order.data.len()));
    }

    #[test]
    fn no_plan_gives_a_lawful_order_without_hot_items(
        (tree, _) in tree_and_garbage(BlockSize::MIN),
        tails in tails(),
    ) {
        let (order, rest) = order(&tree, &Plan::default(), BlockSize::MIN, tails);
        prop_assert_eq!(check(&tree, BlockSize::MIN, &order), Ok(()));
        prop_assert!(check_tails(&tree, BlockSize::MIN, &order, tails));
        prop_assert_eq!((order.hot_items, rest), (0, Vec::new()));
        prop_assert_eq!(order.cold_inodes, order.inodes.len());
        prop_assert_eq!(order.cold_directories, order.directories.len());
    }

    #[test]
    fn a_recorded_plan_is_obeyed_to_the_letter(
        (tree, trace) in tree_and_trace(BlockSize::new(8192).expect("legal")),
        tails in prop_oneof![Just(Tails::Small), Just(Tails::All)],
    ) {
        let block_size = BlockSize::new(8192).expect("legal");
        let plan = plan(&tree, &Profile::from(&trace), block_size);
        let (order, rest) = order(&tree, &plan, block_size, tails);
        prop_assert_eq!(check(&tree, block_size, &order), Ok(()));
        prop_assert_eq!(rest, Vec::<Vec<u8>>::new());
        let id = |path: &Vec<u8>| tree.find(path).expect("exists");
        let planned: Vec<_> = plan.data.iter().map(|item| match item {
            PlanItem::Blocks(path) => Item::Blocks(id(path)),
            PlanItem::Fragment(paths) => Item::Fragment(paths.iter().map(id).collect()),
        }).collect();
        prop_assert_eq!(&order.data[..order.hot_items], planned);
        let inodes: Vec<_> = plan.inodes.iter().map(id).collect();
        let hot = &order.inodes[order.cold_inodes..];
        prop_assert_eq!(&hot[..inodes.len()], inodes);
        let directories: Vec<_> = plan.directories.iter().map(id).collect();
        let hot = &order.directories[order.cold_directories..];
        prop_assert_eq!(&hot[..directories.len()], directories);
    }
}
