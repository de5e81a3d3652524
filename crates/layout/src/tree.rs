//! What an image holds: nodes and their names, without file data.

use std::collections::BTreeMap;
use std::ops::Index;
use std::sync::Arc;

/// The place of a node in [`Tree::nodes`]. The root is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The root directory.
    pub const ROOT: Self = Self(0);

    /// The number as an index of vectors that have one element for each node.
    pub fn index(self) -> usize {
        usize::try_from(self.0).expect("addresses have 32 bits or more")
    }
}

/// A directory tree: an arena of nodes.
///
/// Everything but [`Tree::check`] expects a tree that it accepts; with others, methods may panic
/// (a node that does not exist) or leave nodes out (loops, nodes without a name).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The nodes in any order but for the root, which is the first.
    pub nodes: Vec<Node>,
    /// Regular files with the same bytes as another: each names the one whose data serves for both.
    /// That one has the same length and is no duplicate itself.
    pub duplicates: BTreeMap<NodeId, NodeId>,
    /// Regular files, no duplicates, whose tail end has the same bytes as that of another: each
    /// names the one whose tail end serves for both where tail ends are packed. That one is in
    /// neither map.
    pub duplicate_tails: BTreeMap<NodeId, NodeId>,
    /// The first of the nodes whose data the image has already, because it is appended to: they
    /// and all behind them get no place in the data area.
    pub first_kept: Option<NodeId>,
}

/// One inode to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// The 12 permission bits: rwx of three, setuid, setgid, sticky.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Modification time in s since 1970; `SquashFS` has 32 bits for it.
    pub mtime_s: u32,
    /// Extended attributes, full names (`user.x`) and values, ascending by the bytes of the names.
    /// Nodes with the same ones share them.
    pub xattrs: Arc<Vec<(Vec<u8>, Vec<u8>)>>,
}

/// The kinds of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory {
        /// Names and what they name, ascending by the bytes of the names. Several entries of the
        /// tree that name one node are hard links; that node is no directory.
        entries: Vec<(Vec<u8>, NodeId)>,
    },
    /// A regular file.
    File {
        /// Its length.
        size_bytes: u64,
    },
    /// A symbolic link.
    Symlink {
        /// Where it points, any bytes.
        target: Vec<u8>,
    },
    /// A block device.
    BlockDevice {
        /// Major number.
        major: u32,
        /// Minor number.
        minor: u32,
    },
    /// A character device.
    CharDevice {
        /// Major number.
        major: u32,
        /// Minor number.
        minor: u32,
    },
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
}

impl Node {
    /// The length of a regular file in bytes, `None` of other nodes.
    pub fn size_bytes(&self) -> Option<u64> {
        match self.kind {
            Kind::File { size_bytes } => Some(size_bytes),
            _ => None,
        }
    }
}

impl Index<NodeId> for Tree {
    type Output = Node;

    fn index(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
}

impl Tree {
    /// The entries of a directory; none of other nodes.
    pub fn entries(&self, id: NodeId) -> &[(Vec<u8>, NodeId)] {
        match &self[id].kind {
            Kind::Directory { entries } => entries,
            _ => &[],
        }
    }

    /// The length of a regular file in bytes, `None` of other nodes.
    pub fn file_size(&self, id: NodeId) -> Option<u64> {
        self[id].size_bytes()
    }

    /// The node whose data this one has: itself, or the file of which it is a duplicate.
    pub fn data_of(&self, id: NodeId) -> NodeId {
        self.duplicates.get(&id).copied().unwrap_or(id)
    }

    /// The node whose tail end this one has where tail ends are packed.
    pub fn tail_of(&self, id: NodeId) -> NodeId {
        let id = self.data_of(id);
        self.duplicate_tails.get(&id).copied().unwrap_or(id)
    }

    /// Whether the image has the node already, so that it gets no place in the data area.
    pub fn is_kept(&self, id: NodeId) -> bool {
        self.first_kept.is_some_and(|first| first <= id)
    }

    /// The nodes that are not kept.
    pub fn new_nodes(&self) -> &[Node] {
        let end = self.first_kept.map_or(self.nodes.len(), NodeId::index);
        &self.nodes[..end]
    }

    /// Whether the node is a directory.
    pub fn is_directory(&self, id: NodeId) -> bool {
        matches!(self[id].kind, Kind::Directory { .. })
    }

    /// The node at an absolute path without empty, `.` and `..` components. Symbolic links are
    /// not followed: the plan orders the link itself.
    ///
    /// # Cost
    ///
    /// One binary search for each component.
    pub fn find(&self, path: &[u8]) -> Option<NodeId> {
        let (reached, id) = self.descend(path).last()?;
        (reached.len() == path.len()).then_some(id)
    }

    /// The nodes on the way to `path`, each with its own path, from the root to the node or to
    /// the last directory that exists.
    pub(crate) fn descend<'a>(
        &'a self,
        path: &'a [u8],
    ) -> impl Iterator<Item = (&'a [u8], NodeId)> {
        descend_by(path, |directory, name| self.child(directory, name))
    }

    /// What a directory has by a name.
    pub(crate) fn child(&self, directory: NodeId, name: &[u8]) -> Option<NodeId> {
        let entries = self.entries(directory);
        let place = entries.binary_search_by(|(entry, _)| entry.as_slice().cmp(name));
        Some(entries[place.ok()?].1)
    }

    /// The link count of each node, as `SquashFS` stores it: of a directory 2 and its number of
    /// subdirectories, of other nodes the number of entries that name them.
    pub fn link_counts(&self) -> Vec<u32> {
        let own = |node: &Node| {
            if matches!(node.kind, Kind::Directory { .. }) {
                2
            } else {
                0
            }
        };
        let mut counts: Vec<u32> = self.nodes.iter().map(own).collect();
        for (node, directory) in self.nodes.iter().zip(0..) {
            let Kind::Directory { entries } = &node.kind else {
                continue;
            };
            for &(_, child) in entries {
                let counted = if self.is_directory(child) {
                    directory
                } else {
                    child.index()
                };
                counts[counted] += 1;
            }
        }
        counts
    }
}

/// The nodes on the way to `path`, as `child` has them.
pub(crate) fn descend_by(
    path: &[u8],
    child: impl Fn(NodeId, &[u8]) -> Option<NodeId>,
) -> impl Iterator<Item = (&[u8], NodeId)> {
    // Where the path so far ends, without a slash there: 0 for the root.
    let mut next = path.starts_with(b"/").then_some((0, NodeId::ROOT));
    std::iter::from_fn(move || {
        let (end, id) = next?;
        next = path.get(end + 1..).and_then(|rest| {
            let name = rest.split(|&byte| byte == b'/').next()?;
            Some((end + 1 + name.len(), child(id, name)?))
        });
        Some((&path[..end.max(1)], id))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A tree of paths with sizes: a path that ends with `/` is a directory, `a=b` a hard link to
    /// b.
    pub(crate) fn tree(paths: &[(&str, u64)]) -> Tree {
        let mut tree = Tree {
            nodes: vec![node(Kind::Directory {
                entries: Vec::new(),
            })],
            ..Tree::default()
        };
        for &(path, size_bytes) in paths {
            let (path, link) = path
                .split_once('=')
                .map_or((path, None), |(a, b)| (a, Some(b)));
            let is_directory = path.ends_with('/');
            let (parent, name) = path
                .trim_end_matches('/')
                .rsplit_once('/')
                .expect("absolute");
            let parent = if parent.is_empty() { "/" } else { parent };
            let parent = tree.find(parent.as_bytes()).expect("parents come first");
            let linked = link.map(|other| tree.find(other.as_bytes()).expect("links come later"));
            let id = linked.unwrap_or_else(|| {
                let kind = Kind::Directory {
                    entries: Vec::new(),
                };
                tree.nodes.push(node(if is_directory {
                    kind
                } else {
                    Kind::File { size_bytes }
                }));
                NodeId(u32::try_from(tree.nodes.len() - 1).expect("few"))
            });
            let Kind::Directory { entries } = &mut tree.nodes[parent.index()].kind else {
                panic!("{path}: the parent is no directory")
            };
            entries.push((name.as_bytes().to_vec(), id));
            entries.sort();
        }
        tree
    }

    pub(crate) fn node(kind: Kind) -> Node {
        Node {
            kind,
            mode: 0o755,
            uid: 0,
            gid: 0,
            mtime_s: 0,
            xattrs: Arc::default(),
        }
    }

    #[test]
    fn only_exact_paths_are_found() {
        let tree = tree(&[
            ("/a/", 0),
            ("/a/b/", 0),
            ("/a/b/c", 1),
            ("/a-", 1),
            ("/z=/a/b/c", 0),
        ]);
        let cases: &[(&str, Option<u32>)] = &[
            ("/", Some(0)),
            ("/a", Some(1)),
            ("/a/b", Some(2)),
            ("/a/b/c", Some(3)),
            ("/a-", Some(4)),
            ("/z", Some(3)),
            ("", None),
            ("a", None),
            ("//", None),
            ("/a/", None),
            ("//a", None),
            ("/a/./b", None),
            ("/a/b/c/", None),
            ("/a/b/c/d", None),
            ("/b", None),
        ];
        for &(path, id) in cases {
            assert_eq!(tree.find(path.as_bytes()), id.map(NodeId), "{path}");
        }
    }

    #[test]
    fn descent_ends_at_the_last_directory_that_exists() {
        let tree = tree(&[("/a/", 0), ("/a/b/", 0)]);
        let steps: Vec<_> = tree.descend(b"/a/b/c/d").collect();
        let expected: [(&[u8], _); 3] =
            [(b"/", NodeId(0)), (b"/a", NodeId(1)), (b"/a/b", NodeId(2))];
        assert_eq!(steps, expected);
    }

    #[test]
    fn links_are_counted_as_squashfs_does() {
        let tree = tree(&[
            ("/a/", 0),
            ("/a/b/", 0),
            ("/a/f", 1),
            ("/g=/a/f", 0),
            ("/c/", 0),
        ]);
        assert_eq!(tree.link_counts(), [4, 3, 2, 2, 2]);
    }
}
