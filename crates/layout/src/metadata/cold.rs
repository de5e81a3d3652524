//! The cold part of both tables: children before parents.
//!
//! What a directory names stands in the order of the names, and a directory behind all that is
//! below it, as mksquashfs writes them. So what one start needs of a subtree is in few metadata blocks,
//! of which the kernel caches 8: importing eight packages of Python from an image without a plan
//! takes 704 reads. Collecting the directories of 16 blocks, to compress side by side all that names
//! nothing there, took 1,214; of 2 blocks 765. A directory's files before its directories took 696,
//! but listings have more runs then, and images are larger than those of mksquashfs.

use crate::tree::{NodeId, Tree};

/// What no plan asks for, in order.
pub(super) struct Cold<'a> {
    tree: &'a Tree,
    /// For each node whether it has its place, here or in the hot part.
    placed: Vec<bool>,
    pub(super) inodes: Vec<NodeId>,
    pub(super) directories: Vec<NodeId>,
}

impl<'a> Cold<'a> {
    /// * `post_order`: all directories, each behind those below it.
    /// * `hot`: for each node whether it is in the hot part.
    pub(super) fn new(tree: &'a Tree, post_order: &[NodeId], hot: &'a [bool]) -> Self {
        let mut cold = Self {
            tree,
            placed: hot.to_vec(),
            inodes: Vec::new(),
            directories: Vec::new(),
        };
        cold.place_below(hot);
        // What hot listings name follows at the end, directory by directory: the fewer blocks the
        // inodes of a listing lie in, the shorter it is.
        for directory in post_order.iter().rev().filter(|id| hot[id.index()]) {
            for &(_, child) in tree.entries(*directory) {
                cold.place(child);
            }
        }
        if !hot[NodeId::ROOT.index()] {
            cold.place(NodeId::ROOT);
        }
        cold
    }

    /// Places what is in directories that are cold.
    fn place_below(&mut self, hot: &[bool]) {
        let tree = self.tree;
        let mut levels = vec![(NodeId::ROOT, tree.entries(NodeId::ROOT).iter())];
        while let Some((id, entries)) = levels.last_mut() {
            let id = *id;
            match entries.next() {
                Some(&(_, child)) if tree.is_directory(child) => {
                    levels.push((child, tree.entries(child).iter()));
                }
                Some(&(_, child)) if !hot[id.index()] => self.place(child),
                Some(_) => {}
                None => {
                    levels.pop();
                    if !hot[id.index()] {
                        self.directories.push(id);
                    }
                    if levels
                        .last()
                        .is_some_and(|(parent, _)| !hot[parent.index()])
                    {
                        self.place(id);
                    }
                }
            }
        }
    }

    fn place(&mut self, id: NodeId) {
        if !std::mem::replace(&mut self.placed[id.index()], true) {
            self.inodes.push(id);
        }
    }
}
