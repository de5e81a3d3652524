//! A tree while it is put together from one or several inputs.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, Metadata};
use std::path::PathBuf;
use std::sync::Arc;

use coldpress_image::{Image, ReadAt};
use coldpress_layout::{Kind, Node, NodeId, Sketches, Tree};

use crate::content::{Content, Store, StoreId, Watched};
use crate::disk::{Disk, Found};
use crate::duplicates::Hash;
use crate::error::Error;
use crate::held::Identity;
use crate::layers::Deferred;
use crate::shared_xattrs::SharedXattrs;
use crate::source::{Source, SourceImage};
use crate::warning::Warning;

/// A directory without entries and xattrs.
pub(crate) fn directory(mode: u16, uid: u32, gid: u32, mtime_s: u32) -> Node {
    Node {
        kind: Kind::Directory {
            entries: Vec::new(),
        },
        mode,
        uid,
        gid,
        mtime_s,
        xattrs: Arc::default(),
    }
}

/// Nodes, and the names that they have so far.
///
/// Names are kept apart from the nodes until the tree is finished: inputs come in any order, and
/// a directory of a million names must not be sorted for each.
#[derive(Debug)]
pub(crate) struct Draft {
    /// The nodes; directories without their entries.
    pub(crate) nodes: Vec<Node>,
    /// For each node its content.
    pub(crate) contents: Vec<Content>,
    /// The files of the file system.
    pub(crate) disk: Disk,
    /// Those of them that have several names, whichever input each name is in.
    pub(crate) linked: HashMap<Identity, NodeId>,
    /// The xattrs that nodes have.
    pub(crate) xattrs: SharedXattrs,
    names: BTreeMap<NodeId, BTreeMap<Vec<u8>, NodeId>>,
    stores: Vec<Store>,
    images: Vec<SourceImage>,
    warnings: Vec<Warning>,
}

impl Draft {
    /// A tree of a root directory.
    pub(crate) fn new(root: Node) -> Self {
        Self {
            nodes: vec![root],
            contents: vec![Content::Nothing],
            disk: Disk::default(),
            linked: HashMap::new(),
            xattrs: SharedXattrs::default(),
            names: BTreeMap::new(),
            stores: Vec::new(),
            images: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Adds an inode, which has no name yet.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`] if inodes cannot be numbered.
    pub(crate) fn add(&mut self, mut node: Node, content: Content) -> Result<NodeId, Error> {
        self.xattrs.share(&mut node.xattrs);
        let id = u32::try_from(self.nodes.len()).map_err(|_| Error::TooMany {
            what: "inodes",
            found: self.nodes.len() as u64,
            limit: u32::MAX.into(),
        })?;
        self.nodes.push(node);
        self.contents.push(content);
        Ok(NodeId(id))
    }

    /// Names a node; returns the node that had the name before.
    pub(crate) fn link(
        &mut self,
        directory: NodeId,
        name: Vec<u8>,
        node: NodeId,
    ) -> Option<NodeId> {
        self.names.entry(directory).or_default().insert(name, node)
    }

    /// Takes a name away; returns the node that had it.
    pub(crate) fn unlink(&mut self, directory: NodeId, name: &[u8]) -> Option<NodeId> {
        self.names.get_mut(&directory)?.remove(name)
    }

    /// Takes all names of a directory away.
    pub(crate) fn unlink_all(&mut self, directory: NodeId) {
        self.names.remove(&directory);
    }

    /// The node of this name in a directory.
    pub(crate) fn child(&self, directory: NodeId, name: &[u8]) -> Option<NodeId> {
        self.names.get(&directory)?.get(name).copied()
    }

    /// The names in a directory, ascending.
    pub(crate) fn children(&self, directory: NodeId) -> impl Iterator<Item = (&[u8], NodeId)> {
        let names = self.names.get(&directory).into_iter().flatten();
        names.map(|(name, node)| (name.as_slice(), *node))
    }

    /// The node at an absolute path without empty, `.` and `..` components.
    pub(crate) fn find(&self, path: &[u8]) -> Option<NodeId> {
        let names = path.strip_prefix(b"/")?.split(|byte| *byte == b'/');
        let mut names = names.filter(|name| !name.is_empty());
        names.try_fold(NodeId::ROOT, |directory, name| self.child(directory, name))
    }

    /// Whether a node is a directory.
    pub(crate) fn is_directory(&self, node: NodeId) -> bool {
        matches!(self.nodes[node.index()].kind, Kind::Directory { .. })
    }

    /// Gives each name a node of its own: the names of one file become files with equal content.
    ///
    /// # Errors
    ///
    /// As [`Draft::add`].
    pub(crate) fn separate(&mut self) -> Result<(), Error> {
        let mut seen = vec![false; self.nodes.len()];
        let mut names = std::mem::take(&mut self.names);
        for node in names.values_mut().flat_map(BTreeMap::values_mut) {
            let index = node.index();
            if std::mem::replace(&mut seen[index], true) {
                let content = self.contents[index].clone();
                *node = self.add(self.nodes[index].clone(), content)?;
            }
        }
        self.names = names;
        Ok(())
    }

    /// Takes what holds the content of many nodes.
    ///
    /// * `path`: its name, for messages.
    pub(crate) fn keep(&mut self, bytes: Arc<dyn ReadAt>, path: PathBuf) -> StoreId {
        let id = u32::try_from(self.stores.len()).expect("fewer stores than inputs");
        self.stores.push(Store {
            bytes,
            path,
            watched: None,
            deferred: None,
            hashes: HashMap::new(),
        });
        StoreId(id)
    }

    /// As [`Draft::keep`], of a file that somebody else may change while the image is built.
    ///
    /// * `found`: what it was before the first byte of it was read.
    pub(crate) fn keep_watched(
        &mut self,
        file: Arc<File>,
        path: PathBuf,
        found: &Metadata,
    ) -> StoreId {
        let id = self.keep(file.clone(), path);
        self.stores[id.0 as usize].watched = Some(Watched {
            file,
            len_bytes: found.len(),
            found: Found::new(found),
        });
        id
    }

    /// Notes the hash of a content, whose bytes passed by.
    pub(crate) fn note_hash(&mut self, id: StoreId, offset_bytes: u64, hash: Hash) {
        self.stores[id.0 as usize].hashes.insert(offset_bytes, hash);
    }

    /// Says where the content is that a store holds, now that it is known.
    pub(crate) fn set_store(&mut self, id: StoreId, bytes: Arc<dyn ReadAt>) {
        self.stores[id.0 as usize].bytes = bytes;
    }

    /// Says that the content of a store is in a layer that is read when it is needed.
    pub(crate) fn defer_store(&mut self, id: StoreId, layer: Arc<Deferred>) {
        let store = &mut self.stores[id.0 as usize];
        store.bytes = layer.clone();
        store.deferred = Some(layer);
    }

    /// Takes an image whose files are the content of nodes; returns its place.
    pub(crate) fn keep_image(&mut self, image: SourceImage) -> u32 {
        self.images.push(image);
        u32::try_from(self.images.len() - 1).expect("fewer images than inputs")
    }

    pub(crate) fn image(&self, place: u32) -> &Image {
        &self.images[place as usize].image
    }

    pub(crate) fn source_image(&self, place: u32) -> &SourceImage {
        &self.images[place as usize]
    }

    pub(crate) fn warn(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// The finished source: sorted entries, and only the nodes that have a name.
    pub(crate) fn finish(mut self) -> Source {
        let places = self.named();
        let count = places.iter().flatten().count();
        let mut tree = Tree {
            nodes: self.nodes,
            ..Tree::default()
        };
        if count < tree.nodes.len() {
            retain(&mut tree.nodes, &places);
            retain(&mut self.contents, &places);
        }
        while let Some((directory, names)) = self.names.pop_first() {
            let Some(directory) = places[directory.index()] else {
                continue;
            };
            let entry = |(name, node): (Vec<u8>, NodeId)| Some((name, places[node.index()]?));
            let mut entries: Vec<_> = names.into_iter().filter_map(entry).collect();
            entries.shrink_to_fit();
            tree.nodes[directory.index()].kind = Kind::Directory { entries };
        }
        tree.nodes.shrink_to_fit();
        self.contents.shrink_to_fit();
        self.disk.shrink();
        Source {
            tree,
            warnings: self.warnings,
            contents: self.contents,
            disk: self.disk,
            stores: self.stores,
            images: self.images,
            base: None,
            sketches: Sketches::new(),
            reuse: None,
            watch: None,
        }
    }

    /// For each node its number among those that can be reached from the root.
    fn named(&self) -> Vec<Option<NodeId>> {
        let mut is_named = vec![false; self.nodes.len()];
        is_named[0] = true;
        let mut pending = vec![NodeId::ROOT];
        while let Some(directory) = pending.pop() {
            for (_, node) in self.children(directory) {
                if !std::mem::replace(&mut is_named[node.index()], true) && self.is_directory(node)
                {
                    pending.push(node);
                }
            }
        }
        places(is_named)
    }
}

/// For each node that stays its number among those.
pub(crate) fn places(stays: Vec<bool>) -> Vec<Option<NodeId>> {
    let mut next = 0;
    let number = |stays: bool| {
        next += u32::from(stays);
        stays.then(|| NodeId(next - 1))
    };
    stays.into_iter().map(number).collect()
}

/// Keeps what belongs to the nodes that have a place.
pub(crate) fn retain<T>(items: &mut Vec<T>, places: &[Option<NodeId>]) {
    let mut places = places.iter();
    items.retain(|_| places.next().is_some_and(Option::is_some));
}
