//! The rules of a tree, for trees that come from outside.

use coldpress_format::is_legal_name;
use coldpress_trace::Excerpt;

use crate::error::{Error, TreeRule};
use crate::tree::{Kind, Node, NodeId, Tree};

/// The 12 permission bits.
const MODE_MAX: u16 = 0o7777;

impl Tree {
    /// Checks that this is a tree: node 0 is the root directory; names are legal, ascending and
    /// name existing nodes; each directory but the root stands in exactly one directory; a path
    /// leads to every node; modes have 12 bits; xattrs ascend.
    ///
    /// # Errors
    ///
    /// [`Error::Tree`] for the first node, by number, that breaks a rule. Unreachable nodes are
    /// looked for last.
    ///
    /// # Cost
    ///
    /// O(n) in nodes and entries.
    pub fn check(&self) -> Result<(), Error> {
        let fail = |node, rule| Err(Error::Tree { node, rule });
        if !matches!(
            self.nodes.first(),
            Some(Node {
                kind: Kind::Directory { .. },
                ..
            })
        ) {
            return fail(NodeId::ROOT, TreeRule::Root);
        }
        let mut has_parent = vec![false; self.nodes.len()];
        has_parent[NodeId::ROOT.index()] = true;
        for (node, id) in self.nodes.iter().zip((0..).map(NodeId)) {
            let check = check_metadata(node).and_then(|()| self.check_entries(id));
            check.or_else(|rule| fail(id, rule))?;
            for &(_, child) in self.entries(id) {
                if std::mem::replace(&mut has_parent[child.index()], true)
                    && self.is_directory(child)
                {
                    return fail(child, TreeRule::SecondParent);
                }
            }
        }
        let mut is_reached = vec![false; self.nodes.len()];
        for (id, _) in self.walk() {
            is_reached[id.index()] = true;
        }
        match is_reached.iter().zip(0..).find(|(reached, _)| !**reached) {
            Some((_, number)) => fail(NodeId(number), TreeRule::Unreachable),
            None => Ok(()),
        }
    }

    /// Names that are legal and ascend, nodes that exist.
    fn check_entries(&self, id: NodeId) -> Result<(), TreeRule> {
        let mut previous: &[u8] = &[];
        for (name, node) in self.entries(id) {
            if !is_legal_name(name) {
                return Err(TreeRule::Name(Excerpt::new(name)));
            }
            if name.as_slice() <= previous {
                return Err(TreeRule::EntryOrder(Excerpt::new(name)));
            }
            if node.index() >= self.nodes.len() {
                return Err(TreeRule::NoSuchNode {
                    name: Excerpt::new(name),
                    node: *node,
                });
            }
            previous = name;
        }
        Ok(())
    }
}

fn check_metadata(node: &Node) -> Result<(), TreeRule> {
    if node.mode > MODE_MAX {
        return Err(TreeRule::Mode(node.mode));
    }
    match node.xattrs.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        Some(pair) => Err(TreeRule::XattrOrder(Excerpt::new(&pair[1].0))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::tree::tests::{node, tree};

    fn directory(entries: &[(&str, u32)]) -> Node {
        let entries = entries
            .iter()
            .map(|(name, id)| (name.as_bytes().to_vec(), NodeId(*id)));
        node(Kind::Directory {
            entries: entries.collect(),
        })
    }

    fn check(nodes: Vec<Node>) -> Result<(), Error> {
        let duplicates = BTreeMap::new();
        Tree {
            nodes,
            duplicates,
            ..Tree::default()
        }
        .check()
    }

    #[test]
    fn trees_with_hard_links_are_accepted() {
        let tree = tree(&[("/a/", 0), ("/a/f", 9), ("/b/", 0), ("/b/g=/a/f", 0)]);
        assert_eq!(tree.check(), Ok(()));
    }

    #[test]
    fn each_broken_rule_is_reported_with_its_node() {
        let long = "n".repeat(257);
        let file = || node(Kind::File { size_bytes: 1 });
        let xattrs = ["user.b", "user.a"].map(|name| (name.as_bytes().to_vec(), Vec::new()));
        let cases: Vec<(Vec<Node>, &str)> = vec![
            (vec![], "node 0: the root is missing"),
            (vec![file()], "node 0: the root is missing"),
            (
                vec![directory(&[("", 1)]), file()],
                "node 0: entry name `` is not legal",
            ),
            (
                vec![directory(&[(".", 1)]), file()],
                "entry name `.` is not legal",
            ),
            (
                vec![directory(&[("..", 1)]), file()],
                "entry name `..` is not legal",
            ),
            (
                vec![directory(&[("a/b", 1)]), file()],
                "entry name `a/b` is not legal",
            ),
            (
                vec![directory(&[("a\0", 1)]), file()],
                "entry name `a\\x00` is not legal",
            ),
            (
                vec![directory(&[(&long, 1)]), file()],
                "nnn...` is not legal",
            ),
            (
                vec![directory(&[("b", 1), ("a", 1)]), file()],
                "entry `a` is out of order",
            ),
            (
                vec![directory(&[("a", 1), ("a", 1)]), file()],
                "entry `a` is out of order",
            ),
            (
                vec![directory(&[("a", 2)]), file()],
                "`a` names node 2, which does not exist",
            ),
            (
                vec![directory(&[("a", 1), ("b", 1)]), directory(&[])],
                "node 1: the directory has",
            ),
            (
                vec![directory(&[("a", 1)]), directory(&[("b", 0)])],
                "node 0: the directory has",
            ),
            (vec![directory(&[]), file()], "node 1: no path leads"),
            (
                vec![
                    directory(&[]),
                    directory(&[("a", 2)]),
                    directory(&[("b", 1)]),
                ],
                "node 1: no path leads",
            ),
            (
                vec![Node {
                    mode: 0o100_644,
                    ..directory(&[])
                }],
                "node 0: mode is 0o100644",
            ),
            (
                vec![Node {
                    xattrs: Arc::new(xattrs.to_vec()),
                    ..directory(&[])
                }],
                "xattr `user.a` is out",
            ),
        ];
        for (nodes, message) in cases {
            let error = check(nodes).expect_err(message).to_string();
            assert!(error.contains(message), "{error}\nlacks {message}");
        }
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_directories_is_walked() {
        let depth = 100_000;
        let mut nodes: Vec<_> = (1..depth).map(|next| directory(&[("d", next)])).collect();
        nodes.push(directory(&[]));
        let tree = Tree {
            nodes,
            ..Tree::default()
        };
        assert_eq!(tree.check(), Ok(()));
        let deepest = tree.walk().last().map(|(id, place)| (id.0, place.depth));
        assert_eq!(deepest, Some((depth - 1, 99_999)));
    }
}
