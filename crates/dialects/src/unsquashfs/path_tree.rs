//! Paths, as a tree of their names.

use std::collections::HashMap;

/// A set of paths that is asked name by name.
///
/// Nodes lie in one vector: paths may be long, and a tree of boxes would be dropped by recursion.
#[derive(Debug)]
pub(crate) struct PathTree {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    children: HashMap<Vec<u8>, NodeId>,
    is_whole: bool,
}

/// A path of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(usize);

impl Default for PathTree {
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
        }
    }
}

impl PathTree {
    /// The root directory.
    pub(crate) const ROOT: NodeId = NodeId(0);

    /// Adds a path with everything below it.
    pub(crate) fn add_whole(&mut self, path: &[u8]) {
        let NodeId(node) = self.add(path);
        self.nodes[node].is_whole = true;
    }

    /// Adds a path by itself; returns its place, or that of the path above with which it is there
    /// already.
    pub(crate) fn add(&mut self, path: &[u8]) -> NodeId {
        let mut at = Self::ROOT;
        let names = path.split(|byte| *byte == b'/');
        for name in names.filter(|name| !name.is_empty()) {
            if self.is_whole(at) {
                break;
            }
            let next = NodeId(self.nodes.len());
            let children = &mut self.nodes[at.0].children;
            if let Some(child) = children.get(name) {
                at = *child;
                continue;
            }
            children.insert(name.to_vec(), next);
            self.nodes.push(Node::default());
            at = next;
        }
        at
    }

    /// Whether everything below a path belongs to the set.
    pub(crate) fn is_whole(&self, at: NodeId) -> bool {
        self.nodes[at.0].is_whole
    }

    /// The entry of a directory with a name, if it is on the way to a path of the set.
    pub(crate) fn child(&self, at: NodeId, name: &[u8]) -> Option<NodeId> {
        self.nodes[at.0].children.get(name).copied()
    }

    /// Whether there are no paths.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.len() == 1 && !self.is_whole(Self::ROOT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far a path is in the tree: not, on the way, or with everything below it.
    fn state(tree: &PathTree, path: &str) -> &'static str {
        let mut at = PathTree::ROOT;
        for name in path.split('/') {
            if tree.is_whole(at) {
                return "whole";
            }
            match tree.child(at, name.as_bytes()) {
                Some(child) => at = child,
                None => return "not",
            }
        }
        if tree.is_whole(at) { "whole" } else { "way" }
    }

    #[test]
    fn a_shorter_path_takes_the_longer_ones_in() {
        for paths in [["/a/b/c", "/a/b"], ["/a/b", "/a/b/c"]] {
            let mut tree = PathTree::default();
            for path in paths {
                tree.add_whole(path.as_bytes());
            }
            for (path, expected) in [
                ("a", "way"),
                ("a/b", "whole"),
                ("a/b/c", "whole"),
                ("a/b/d/e", "whole"),
                ("a/c", "not"),
                ("b", "not"),
            ] {
                assert_eq!(state(&tree, path), expected, "{path}");
            }
        }
    }

    #[test]
    fn a_path_by_itself_has_nothing_below() {
        let mut tree = PathTree::default();
        assert!(tree.is_empty());
        tree.add(b"/a/b");
        assert!(!tree.is_empty());
        assert_eq!(state(&tree, "a/b"), "way");
        assert_eq!(state(&tree, "a/b/c"), "not");
        tree.add_whole(b"/");
        assert_eq!(state(&tree, "x"), "whole");
    }
}
