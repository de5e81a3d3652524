use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;

use coldpress_layout::Plan;
use coldpress_writer::{Input, Overrides, Source, SourceOptions, Xattrs, gather};

use super::trees::{built, options};

fn gathered(inputs: &[Input], overrides: Overrides) -> Source {
    let options = SourceOptions {
        overrides,
        ..SourceOptions::default()
    };
    gather(inputs, &options, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// All nodes have the same set in memory, of so many pairs.
fn assert_shared(source: &Source, pairs: usize) {
    let nodes = &source.tree.nodes;
    assert_eq!((nodes.len(), nodes[0].xattrs.len()), (21, pairs));
    for node in nodes {
        assert!(Arc::ptr_eq(&node.xattrs, &nodes[0].xattrs));
    }
}

fn added(names: &[&str]) -> Overrides {
    let mut xattrs = Xattrs::default();
    for name in names {
        xattrs.add(format!("{name}=1").as_bytes()).unwrap();
    }
    Overrides {
        xattrs,
        ..Overrides::default()
    }
}

#[test]
fn nodes_with_the_same_xattrs_share_them() {
    let scratch = tempfile::tempdir().unwrap();
    let tree = scratch.path().join("tree");
    fs::create_dir(&tree).unwrap();
    for number in 0..20 {
        fs::write(tree.join(number.to_string()), "").unwrap();
    }
    let source = gathered(&[Input::Directory(tree)], added(&["user.x", "user.y"]));
    assert_shared(&source, 2);
    let image = scratch.path().join("image");
    fs::write(
        &image,
        built(&source, &Plan::default(), &options(None, 4096)),
    )
    .unwrap();
    let inputs = Input::from_paths(&[image]).unwrap();
    assert_shared(&gathered(&inputs, Overrides::default()), 2);
    assert_shared(&gathered(&inputs, added(&["user.z"])), 3);
}
