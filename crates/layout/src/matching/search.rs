//! The search for all paths of a profile, one way after the other.

use std::collections::{BTreeMap, HashMap};

use super::version::versionless;
use super::{How, Shape};
use crate::tree::{NodeId, Tree};

/// Nodes of one name that are compared with a path: `__init__.py` is in every package, and a tree
/// may be made of nothing else.
pub(super) const CANDIDATES_MAX: usize = 1024;

/// Where a path was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) how: How,
    pub(super) node: NodeId,
    /// Its path in the tree.
    pub(super) path: Vec<u8>,
}

/// The entries of a directory by their names without versions, as places in them.
type Versions = HashMap<Vec<u8>, Vec<usize>>;

/// A search under way.
pub(super) struct Search<'a> {
    pub(super) tree: &'a Tree,
    pub(super) wanted: &'a BTreeMap<&'a [u8], Shape>,
    pub(super) found: BTreeMap<&'a [u8], Found>,
    /// By node: stands for a path already, by itself or found for it.
    pub(super) is_taken: Vec<bool>,
    versions: HashMap<NodeId, Versions>,
    /// What a name that a directory does not have was taken for, as a place in its entries.
    renamed: HashMap<(NodeId, &'a [u8], Shape), Option<usize>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(tree: &'a Tree, wanted: &'a BTreeMap<&'a [u8], Shape>) -> Self {
        Self {
            tree,
            wanted,
            found: BTreeMap::new(),
            is_taken: vec![false; tree.nodes.len()],
            versions: HashMap::new(),
            renamed: HashMap::new(),
        }
    }

    /// Finds what is where it was. Directories on the way to something missing stand for
    /// themselves, too.
    pub(super) fn by_path(&mut self) {
        for (&path, shape) in self.wanted {
            for (reached, node) in self.tree.descend(path) {
                self.is_taken[node.index()] = true;
                if reached.len() == path.len() && shape.fits(&self.tree[node]) {
                    self.note(path, How::Path, node, path.to_vec());
                }
            }
        }
    }

    /// Finds what has another version, or lies in a directory that has.
    pub(super) fn by_version(&mut self) {
        for (path, shape) in self.missing() {
            if let Some((node, there)) = self.descend(path, shape) {
                self.note(path, How::Name, node, there);
            }
        }
    }

    /// The paths that were not found, ascending.
    pub(super) fn missing(&self) -> Vec<(&'a [u8], Shape)> {
        let missing = self.wanted.iter();
        let missing = missing.filter(|(path, _)| !self.found.contains_key(*path));
        missing.map(|(path, shape)| (*path, *shape)).collect()
    }

    /// Notes where a path of the profile was found.
    ///
    /// * `there`: its path in the tree.
    pub(super) fn note(&mut self, path: &'a [u8], how: How, node: NodeId, there: Vec<u8>) {
        self.is_taken[node.index()] = true;
        let found = Found {
            how,
            node,
            path: there,
        };
        self.found.insert(path, found);
    }

    /// Follows a path from the root; where a directory lacks a name, to what was renamed.
    fn descend(&mut self, path: &'a [u8], shape: Shape) -> Option<(NodeId, Vec<u8>)> {
        let mut names = path
            .strip_prefix(b"/")?
            .split(|&byte| byte == b'/')
            .peekable();
        let (mut node, mut reached) = (NodeId::ROOT, Vec::with_capacity(path.len()));
        while let Some(name) = names.next() {
            let is_last = names.peek().is_none();
            let shape = if is_last { shape } else { Shape::Directory };
            let (name, child) = self.child(node, name, shape)?;
            reached.push(b'/');
            reached.extend_from_slice(name);
            node = child;
        }
        Some((node, reached))
    }

    /// What a directory has by a name, or else the only one that differs in versions.
    fn child(
        &mut self,
        directory: NodeId,
        name: &'a [u8],
        shape: Shape,
    ) -> Option<(&'a [u8], NodeId)> {
        let tree = self.tree;
        if let Some(child) = tree
            .child(directory, name)
            .filter(|&child| shape.fits(&tree[child]))
        {
            return Some((name, child));
        }
        let key = (directory, name, shape);
        let place = if let Some(place) = self.renamed.get(&key) {
            *place
        } else {
            let place = self.only_version(directory, name, shape);
            self.renamed.insert(key, place);
            place
        };
        let (name, child) = tree.entries(directory).get(place?)?;
        self.is_taken[child.index()] = true;
        Some((name.as_slice(), *child))
    }

    /// The only entry of a directory that differs from a name in versions and is not taken.
    fn only_version(&mut self, directory: NodeId, name: &[u8], shape: Shape) -> Option<usize> {
        let entries = self.tree.entries(directory);
        let versions = self.versions.entry(directory).or_insert_with(|| {
            let mut versions = Versions::new();
            for ((name, _), place) in entries.iter().zip(0..) {
                versions.entry(versionless(name)).or_default().push(place);
            }
            versions
        });
        let is_free = |place: &&usize| {
            let entry = entries.get(**place);
            entry.is_some_and(|&(_, node)| {
                !self.is_taken[node.index()] && shape.fits(&self.tree[node])
            })
        };
        let alike = versions.get(&versionless(name))?;
        if alike.len() > CANDIDATES_MAX {
            return None;
        }
        let mut free = alike.iter().filter(is_free);
        let only = free.next()?;
        free.next().is_none().then_some(*only)
    }
}
