//! Random trees that keep the rules.

use std::sync::Arc;

use coldpress_layout::{Kind, Node, NodeId, Tree};
use proptest::prelude::*;
use proptest::sample::Index;

/// One step of growth: where, by what name, what.
type Step = (Index, Vec<u8>, Growth);

#[derive(Clone, Debug)]
enum Growth {
    New(Kind),
    /// Another name of a node that is no directory.
    Link(Index),
}

/// Trees of up to 60 nodes with hard links, names of any bytes, and files whose sizes are near
/// multiples of `block_size_bytes`.
pub(crate) fn tree(block_size_bytes: u32) -> impl Strategy<Value = Tree> {
    let step = (any::<Index>(), name(), growth(block_size_bytes));
    prop::collection::vec(step, 0..60).prop_map(|steps| grow(&steps))
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let legal = |name: &Vec<u8>| name != b"." && name != b"..";
    let byte = any::<u8>().prop_map(|byte| if matches!(byte, b'/' | 0) { b'a' } else { byte });
    prop_oneof![
        4 => "[a-d]{1,2}".prop_map(String::into_bytes),
        1 => prop::collection::vec(byte, 1..5).prop_filter("legal", legal),
    ]
}

fn growth(block_size_bytes: u32) -> impl Strategy<Value = Growth> {
    let block_size_bytes = u64::from(block_size_bytes);
    let size_bytes = prop_oneof![
        Just(0),
        1..block_size_bytes,
        (0_u64..4, 0..3_u64)
            .prop_map(move |(blocks, over)| (blocks * block_size_bytes + over).saturating_sub(1)),
        0..6 * block_size_bytes,
    ];
    prop_oneof![
        3 => Just(Growth::New(Kind::Directory { entries: Vec::new() })),
        6 => size_bytes.prop_map(|size_bytes| Growth::New(Kind::File { size_bytes })),
        1 => Just(Growth::New(Kind::Symlink { target: b"x".to_vec() })),
        1 => Just(Growth::New(Kind::Fifo)),
        2 => any::<Index>().prop_map(Growth::Link),
    ]
}

fn grow(steps: &[Step]) -> Tree {
    let node = |kind| Node {
        kind,
        mode: 0o755,
        uid: 0,
        gid: 0,
        mtime_s: 0,
        xattrs: Arc::default(),
    };
    let mut tree = Tree {
        nodes: vec![node(Kind::Directory {
            entries: Vec::new(),
        })],
        ..Tree::default()
    };
    for (parent, name, growth) in steps {
        let ids = (0..).map(NodeId).take(tree.nodes.len());
        let (directories, others): (Vec<_>, Vec<_>) = ids.partition(|&id| tree.is_directory(id));
        let parent = directories[parent.index(directories.len())];
        let Err(place) = tree
            .entries(parent)
            .binary_search_by(|entry| entry.0.cmp(name))
        else {
            continue;
        };
        let id = match growth {
            Growth::Link(_) if others.is_empty() => continue,
            Growth::Link(other) => others[other.index(others.len())],
            Growth::New(kind) => {
                tree.nodes.push(node(kind.clone()));
                NodeId(u32::try_from(tree.nodes.len() - 1).expect("few"))
            }
        };
        if let Kind::Directory { entries } = &mut tree.nodes[parent.index()].kind {
            entries.insert(place, (name.clone(), id));
        }
    }
    tree
}

proptest! {
    #[test]
    fn random_trees_keep_the_rules_and_their_paths_find_them(tree in tree(4096)) {
        prop_assert_eq!(tree.check(), Ok(()));
        for (path, number) in tree.paths().iter().zip(0..) {
            prop_assert_eq!(tree.find(path), Some(NodeId(number)));
        }
    }
}
