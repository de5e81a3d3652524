//! Orders that keep what an older image has.

use coldpress_format::BlockSize;
use coldpress_layout::{
    Former, FormerItem, Grouping, Item, Keeping, NodeId, Order, Plan, PlanItem, Stability, Tails,
    Tree, order, order_keeping,
};
use proptest::prelude::*;

use crate::laws::check;
use crate::plans::tree_and_garbage;

const BLOCK_SIZE: BlockSize = BlockSize::MIN;

fn keep(tree: &Tree, plan: &Plan, tails: Tails, former: &Former, stability: Stability) -> Order {
    let keeping = Keeping {
        former,
        stability,
        align_bytes: 4096,
    };
    order_keeping(tree, plan, BLOCK_SIZE, tails, Grouping::None, Some(keeping)).0
}

/// What an image in this order has, if everything took half of its bytes.
fn former(tree: &Tree, order: &Order, changes: &[bool]) -> Former {
    let mut start = 96;
    let mut items = Vec::new();
    for item in &order.data {
        let size = |id: &NodeId| tree.file_size(*id).unwrap_or(0);
        let size_bytes = match item {
            Item::Blocks(id) => size(id) / 2,
            Item::Fragment(members) => {
                let tails = members.iter().map(|id| BLOCK_SIZE.tail_bytes(size(id)));
                u64::from(tails.sum::<u32>() / 2)
            }
        };
        items.push(FormerItem {
            item: item.clone(),
            start,
            size_bytes,
            is_same: true,
        });
        start += size_bytes;
    }
    change(&mut items, changes);
    Former::new(tree, BLOCK_SIZE, items)
}

/// Takes from an older image what is not as it was any more: files by their number in a list of
/// what became of them.
fn change(items: &mut [FormerItem], changes: &[bool]) {
    let is_changed = |id: &NodeId| changes.get(id.index()).copied().unwrap_or_default();
    for item in items {
        match &mut item.item {
            Item::Blocks(id) => item.is_same &= !is_changed(id),
            Item::Fragment(members) => {
                let all = members.len();
                members.retain(|id| !is_changed(id));
                item.is_same &= members.len() == all;
            }
        }
    }
}

fn tails() -> impl Strategy<Value = Tails> {
    prop_oneof![Just(Tails::None), Just(Tails::Small), Just(Tails::All)]
}

fn stability() -> impl Strategy<Value = Stability> {
    (0.0..=1.0).prop_map(|share| Stability::new(share).unwrap())
}

proptest! {
    #[test]
    fn whatever_the_older_image_has_the_order_is_lawful(
        (tree, plan) in tree_and_garbage(BLOCK_SIZE),
        items in prop::collection::vec(
            (any::<bool>(), prop::collection::vec(0..60_u32, 0..9), any::<u64>(), any::<u64>()),
            0..40,
        ),
        same in any::<u64>(),
        tails in tails(),
        stability in stability(),
    ) {
        let file = |id: u32| NodeId(id % u32::try_from(tree.nodes.len()).unwrap());
        let items = items.into_iter().enumerate();
        let items = items.map(|(place, (is_blocks, ids, start, size_bytes))| FormerItem {
            item: if is_blocks {
                Item::Blocks(file(ids.first().copied().unwrap_or(7)))
            } else {
                Item::Fragment(ids.into_iter().map(file).collect())
            },
            start,
            size_bytes,
            is_same: same >> place & 1 == 1,
        });
        let former = Former::new(&tree, BLOCK_SIZE, items.collect());
        let found = keep(&tree, &plan, tails, &former, stability);
        prop_assert_eq!(check(&tree, BLOCK_SIZE, &found), Ok(()));
        prop_assert_eq!(found, keep(&tree, &plan, tails, &former, stability));
    }

    #[test]
    fn of_equal_trees_nothing_moves_and_without_stability_the_plan_holds(
        (tree, plan) in tree_and_garbage(BLOCK_SIZE),
        is_planned in any::<bool>(),
        tails in tails(),
    ) {
        let older = order(&tree, &plan, BLOCK_SIZE, tails).0;
        let former = former(&tree, &older, &[]);
        let plan = if is_planned { plan } else { Plan::default() };
        let stable = keep(&tree, &plan, tails, &former, Stability::MAX);
        prop_assert_eq!(stable.data, older.data);
        let zero = Stability::new(0.0).unwrap();
        let unstable = keep(&tree, &plan, tails, &former, zero);
        prop_assert_eq!(unstable, order(&tree, &plan, BLOCK_SIZE, tails).0);
    }

    #[test]
    fn what_did_not_change_stays_in_its_block_and_in_its_order(
        (tree, plan) in tree_and_garbage(BLOCK_SIZE),
        changes in prop::collection::vec(prop::bool::weighted(0.2), 60),
        tails in tails(),
        stability in stability(),
    ) {
        let older = order(&tree, &Plan::default(), BLOCK_SIZE, tails).0;
        let former = former(&tree, &older, &changes);
        let is_changed = |id: &NodeId| changes.get(id.index()).copied().unwrap_or_default();
        let same = older.data.iter().filter(|item| match item {
            Item::Blocks(id) => !is_changed(id),
            Item::Fragment(members) => !members.iter().any(is_changed),
        });
        let same: Vec<&Item> = same.collect();
        let found = keep(&tree, &plan, tails, &former, Stability::MAX);
        prop_assert_eq!(check(&tree, BLOCK_SIZE, &found), Ok(()));
        let kept = found.data.iter().filter(|item| same.contains(item));
        prop_assert_eq!(kept.collect::<Vec<_>>(), same);
        let between = keep(&tree, &plan, tails, &former, stability);
        prop_assert_eq!(check(&tree, BLOCK_SIZE, &between), Ok(()));
    }
}

/// Files of whole blocks, `/a` to `/z` as far as there are sizes.
fn files(sizes: &[u64]) -> Tree {
    use coldpress_layout::{Kind, Node};
    let node = |kind| Node {
        kind,
        mode: 0o755,
        uid: 0,
        gid: 0,
        mtime_s: 0,
        xattrs: std::sync::Arc::default(),
    };
    let names = (b'a'..).map(|name| vec![name]).zip((1..).map(NodeId));
    let entries = names.take(sizes.len()).collect();
    let mut nodes = vec![node(Kind::Directory { entries })];
    nodes.extend(sizes.iter().map(|size_bytes| {
        node(Kind::File {
            size_bytes: *size_bytes,
        })
    }));
    Tree {
        nodes,
        ..Tree::default()
    }
}

fn blocks(ids: &[u32]) -> Vec<Item> {
    ids.iter().map(|id| Item::Blocks(NodeId(*id))).collect()
}

/// What the stability is for: a file far away is worth its move, neighbors are not.
#[test]
fn what_is_worth_its_bytes_moves() {
    const MIB: u64 = 1 << 20;
    let tree = files(&[MIB, MIB, MIB, MIB]);
    let older = order(&tree, &Plan::default(), BLOCK_SIZE, Tails::Small).0;
    let former = former(&tree, &older, &[]);
    let wanted = |names: &[&str]| Plan {
        data: names
            .iter()
            .map(|name| PlanItem::Blocks(format!("/{name}").into_bytes()))
            .collect(),
        ..Plan::default()
    };
    let at = |plan: &Plan, share: f64| {
        let stability = Stability::new(share).unwrap();
        keep(&tree, plan, Tails::Small, &former, stability).data
    };
    // A jump to it and one back cost twice what its boundaries do.
    let far = wanted(&["d", "a", "b"]);
    assert_eq!(at(&far, 0.1), blocks(&[4, 1, 2, 3]));
    assert_eq!(at(&far, 0.9), blocks(&[1, 2, 3, 4]));
    // Already together: no start is faster for it.
    let together = wanted(&["b", "c"]);
    assert_eq!(at(&together, 1.0), blocks(&[1, 2, 3, 4]));
    // The share is one of thousandths.
    for share in [-0.001, 1.001, f64::NAN, f64::INFINITY] {
        assert_eq!(Stability::new(share), None, "{share}");
    }
    for text in ["", "-0.1", "1.1", "nan", "half"] {
        assert!(Stability::parse(text).is_err(), "{text}");
    }
    assert_eq!(Stability::parse("1"), Ok(Stability::MAX));
}

#[test]
fn runs_begin_where_they_did_modulo_the_alignment() {
    const KIB: u64 = 1 << 10;
    let tree = files(&[64 * KIB; 5]);
    let older = order(&tree, &Plan::default(), BLOCK_SIZE, Tails::Small).0;
    let former = former(&tree, &older, &[false, false, true]);
    let found = keep(
        &tree,
        &Plan::default(),
        Tails::Small,
        &former,
        Stability::MAX,
    );
    assert_eq!(found.data, blocks(&[1, 2, 3, 4, 5]));
    let starts: Vec<_> = found.alignment.starts.into_iter().collect();
    assert_eq!(starts, [(0, 96), (2, (96 + 64 * KIB) % 4096)]);
}
