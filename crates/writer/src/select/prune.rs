//! Selection from a draft: for inputs that lie on no file system.

use coldpress_layout::NodeId;

use super::{Below, Found, Selection, Verdict};
use crate::draft::Draft;

/// Takes from a draft what a selection leaves out by paths and depth.
///
/// What was scanned with the same selection stays as it is. Ignore files are not read.
pub(crate) fn prune(draft: &mut Draft, selection: &Selection) {
    let mut pending = vec![(NodeId::ROOT, selection.root(None))];
    let mut passages = Vec::new();
    while let Some((directory, at)) = pending.pop() {
        for (name, node) in children(draft, directory) {
            match verdict(draft, selection, &at, &name, node) {
                Verdict::Drop => {
                    draft.unlink(directory, &name);
                }
                Verdict::KeepEmpty => empty(draft, node),
                Verdict::Keep(below) => pending.push((node, below)),
                Verdict::Passage(below) => {
                    pending.push((node, below));
                    passages.push((directory, name, node));
                }
            }
        }
    }
    // Those below come after those above.
    while let Some((directory, name, node)) = passages.pop() {
        if draft.children(node).next().is_none() {
            draft.unlink(directory, &name);
        }
    }
}

fn verdict(draft: &Draft, selection: &Selection, at: &Below, name: &[u8], node: NodeId) -> Verdict {
    let found = Found {
        is_directory: draft.is_directory(node),
        ..Found::unknown(name)
    };
    selection.enter(at, &found)
}

fn empty(draft: &mut Draft, directory: NodeId) {
    for (name, _) in children(draft, directory) {
        draft.unlink(directory, &name);
    }
}

fn children(draft: &Draft, directory: NodeId) -> Vec<(Vec<u8>, NodeId)> {
    let children = draft.children(directory);
    children.map(|(name, node)| (name.to_vec(), node)).collect()
}
