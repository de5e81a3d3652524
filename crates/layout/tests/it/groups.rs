//! Cold tail ends that share blocks with what is similar.

use std::collections::BTreeMap;
use std::sync::Arc;

use coldpress_format::BlockSize;
use coldpress_layout::{
    Grouping, Item, Kind, Node, NodeId, Plan, Sketch, Sketches, Tails, Tree, order, order_grouped,
};
use proptest::prelude::*;

use crate::laws::{check, check_tails, tails};
use crate::plans::tree_and_garbage;

/// Sketches of a few contents, of some nodes.
fn sketches() -> impl Strategy<Value = Sketches> {
    let content = "[ab]{0,9}x{0,40}".prop_map(|text| Sketch::of(text.as_bytes()));
    prop::collection::btree_map((0..70_u32).prop_map(NodeId), content, 0..70)
}

proptest! {
    #[test]
    fn any_grouping_gives_a_lawful_order_and_leaves_the_plan_alone(
        (tree, plan) in tree_and_garbage(BlockSize::MIN),
        tails in tails(),
        sketches in sketches(),
    ) {
        let (ungrouped, rest) = order(&tree, &plan, BlockSize::MIN, tails);
        for grouping in [Grouping::Extension, Grouping::Similar(&sketches)] {
            let (order, unmatched) = order_grouped(&tree, &plan, BlockSize::MIN, tails, grouping);
            prop_assert_eq!(check(&tree, BlockSize::MIN, &order), Ok(()));
            prop_assert!(check_tails(&tree, BlockSize::MIN, &order, tails));
            prop_assert_eq!(&unmatched, &rest);
            prop_assert_eq!(order.hot_items, ungrouped.hot_items);
            let hot = ..order.hot_items;
            prop_assert_eq!(&order.data[hot], &ungrouped.data[hot]);
            let blocks = |data: &[Item]| {
                let blocks = data.iter().filter(|item| matches!(item, Item::Blocks(_)));
                blocks.cloned().collect::<Vec<_>>()
            };
            prop_assert_eq!(blocks(&order.data), blocks(&ungrouped.data));
            prop_assert_eq!(&order.inodes, &ungrouped.inodes);
            prop_assert_eq!(&order.directories, &ungrouped.directories);
            let again = order_grouped(&tree, &plan, BlockSize::MIN, tails, grouping).0;
            prop_assert_eq!(order, again);
        }
    }
}

/// A root with files of these names and sizes.
fn files(files: &[(&str, u64)]) -> Tree {
    let node = |kind| Node {
        kind,
        mode: 0o644,
        uid: 0,
        gid: 0,
        mtime_s: 0,
        xattrs: Arc::default(),
    };
    let entries = files.iter().zip((1..).map(NodeId));
    let entries = entries.map(|((name, _), id)| (name.as_bytes().to_vec(), id));
    let mut nodes = vec![node(Kind::Directory {
        entries: entries.collect(),
    })];
    nodes.extend(
        files
            .iter()
            .map(|&(_, size_bytes)| node(Kind::File { size_bytes })),
    );
    Tree {
        nodes,
        ..Tree::default()
    }
}

/// The data of an order: numbers of nodes, those of a fragment together.
fn data(tree: &Tree, grouping: Grouping<'_>) -> Vec<Vec<u32>> {
    let plan = Plan::default();
    let (order, _) = order_grouped(tree, &plan, BlockSize::MIN, Tails::Small, grouping);
    let numbers = |item: &Item| match item {
        Item::Blocks(id) => vec![id.0],
        Item::Fragment(members) => members.iter().map(|id| id.0).collect(),
    };
    order.data.iter().map(numbers).collect()
}

#[test]
fn names_that_end_alike_share_a_block_behind_what_they_stand_behind() {
    let tree = files(&[
        ("a.py", 2000),
        ("b.so.1", 2000),
        ("c", 1000),
        ("d.py", 2000),
        ("e.so.2", 2000),
        ("f", 8192),
        ("g", 1000),
    ]);
    let neighbors: [&[u32]; 4] = [&[1, 2], &[3, 4], &[6], &[5, 7]];
    assert_eq!(data(&tree, Grouping::None), neighbors);
    let expected: [&[u32]; 4] = [&[6], &[3, 7, 1], &[4, 2], &[5]];
    assert_eq!(data(&tree, Grouping::Extension), expected);
    // Without sketches names are all there is.
    let none = BTreeMap::new();
    assert_eq!(data(&tree, Grouping::Similar(&none)), expected);
}

#[test]
fn contents_that_are_similar_share_a_block_whatever_they_are_called() {
    let tree = files(&[
        ("a.py", 2000),
        ("b.py", 2000),
        ("c.txt", 2000),
        ("d.txt", 2000),
    ]);
    let text = |word: &str| {
        let lines = (0..100).map(|number| format!("{word} {number}\n"));
        Sketch::of(lines.collect::<String>().as_bytes())
    };
    let (one, other) = (text("alpha"), text("omicron"));
    let sketches = Sketches::from(
        [(1, one), (2, other), (3, one), (4, other)].map(|(id, it)| (NodeId(id), it)),
    );
    assert_eq!(data(&tree, Grouping::Extension), [[1, 2], [3, 4]]);
    assert_eq!(data(&tree, Grouping::Similar(&sketches)), [[1, 3], [2, 4]]);
}
