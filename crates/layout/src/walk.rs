//! Walking a tree: depth-first, names in byte order, each node once.

use crate::tree::{NodeId, Tree};

/// Where a walk met a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'tree> {
    /// The directory that holds the name; of the root, the root.
    pub parent: NodeId,
    /// The name; of the root, empty.
    pub name: &'tree [u8],
    /// Names from the root to here, 0 for the root.
    pub depth: usize,
}

/// A directory whose entries are being walked.
struct Level<'tree> {
    directory: NodeId,
    entries: std::slice::Iter<'tree, (Vec<u8>, NodeId)>,
}

impl Tree {
    /// Walks the tree depth-first from the root, names in byte order, a directory before its
    /// entries. A node with several names comes once, at its first.
    ///
    /// # Cost
    ///
    /// O(n) time; a byte for each node and the stack of directories that are open.
    pub fn walk(&self) -> impl Iterator<Item = (NodeId, Place<'_>)> {
        let mut met = vec![false; self.nodes.len()];
        let mut levels: Vec<Level<'_>> = Vec::new();
        let root = Place {
            parent: NodeId::ROOT,
            name: &[],
            depth: 0,
        };
        let mut root = (!self.nodes.is_empty()).then_some((NodeId::ROOT, root));
        std::iter::from_fn(move || {
            let (id, place) = match root.take() {
                Some(first) => first,
                None => next_entry(&mut levels, &met)?,
            };
            met[id.index()] = true;
            let entries = self.entries(id);
            if !entries.is_empty() {
                levels.push(Level {
                    directory: id,
                    entries: entries.iter(),
                });
            }
            Some((id, place))
        })
    }

    /// The path of each node: the first one in the order of [`walk`](Self::walk).
    ///
    /// # Cost
    ///
    /// O(n) paths. Their lengths add up, to O(n * depth) in a tree that is one deep chain.
    pub fn paths(&self) -> Vec<Vec<u8>> {
        let mut paths = vec![Vec::new(); self.nodes.len()];
        for (
            id,
            Place {
                parent,
                name,
                depth,
            },
        ) in self.walk()
        {
            let parent = if depth > 1 {
                paths[parent.index()].as_slice()
            } else {
                b""
            };
            paths[id.index()] = [parent, b"/", name].concat();
        }
        paths
    }
}

/// Takes the next entry whose node was not met, leaving directories that are done.
fn next_entry<'tree>(
    levels: &mut Vec<Level<'tree>>,
    met: &[bool],
) -> Option<(NodeId, Place<'tree>)> {
    loop {
        let depth = levels.len();
        let level = levels.last_mut()?;
        let parent = level.directory;
        match level.entries.find(|(_, id)| !met[id.index()]) {
            Some((name, id)) => {
                return Some((
                    *id,
                    Place {
                        parent,
                        name,
                        depth,
                    },
                ));
            }
            None => levels.pop(),
        };
    }
}

#[cfg(test)]
mod tests {
    use crate::tree::tests::tree;

    #[test]
    fn a_walk_is_depth_first_by_name_and_meets_links_once() {
        let tree = tree(&[
            ("/b/", 0),
            ("/b/x", 1),
            ("/a", 1),
            ("/b-", 1),
            ("/b/empty/", 0),
            ("/b/a=/a", 0),
            ("/b/y/", 0),
            ("/b/y/z", 1),
        ]);
        let met: Vec<_> = tree
            .walk()
            .map(|(id, place)| {
                (
                    id.0,
                    place.parent.0,
                    str::from_utf8(place.name).expect("ASCII"),
                    place.depth,
                )
            })
            .collect();
        let expected = [
            (0, 0, "", 0),
            (3, 0, "a", 1),
            (1, 0, "b", 1),
            (5, 1, "empty", 2),
            (2, 1, "x", 2),
            (6, 1, "y", 2),
            (7, 6, "z", 3),
            (4, 0, "b-", 1),
        ];
        assert_eq!(met, expected);
        let paths: Vec<_> = tree
            .paths()
            .into_iter()
            .map(|path| String::from_utf8(path).expect("ASCII"))
            .collect();
        let expected = ["/", "/b", "/b/x", "/a", "/b-", "/b/empty", "/b/y", "/b/y/z"];
        assert_eq!(paths, expected);
    }
}
