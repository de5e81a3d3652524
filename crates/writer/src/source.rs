//! What an image is built from: the tree, and where its files lie.

use std::path::PathBuf;
use std::sync::Arc;

use coldpress_codec::{Work, WorkObserver, WorkSpan};
use coldpress_image::Image;
use coldpress_layout::{NodeId, Sketches, Tree};

use crate::content::{Content, Opened, Store, StoreId};
use crate::disk::Disk;
use crate::duplicates::Hash;
use crate::error::Error;
use crate::reuse::Reuse;
use crate::warning::Warning;

/// A tree with its content, ready to be ordered and written.
#[derive(Debug)]
pub struct Source {
    /// Names and metadata.
    pub tree: Tree,
    /// What the image will not hold as it is.
    pub warnings: Vec<Warning>,
    /// For each node its content.
    pub(crate) contents: Vec<Content>,
    pub(crate) disk: Disk,
    pub(crate) stores: Vec<Store>,
    pub(crate) images: Vec<SourceImage>,
    /// The place among them of the image that this is appended to: the nodes from
    /// [`Tree::first_kept`] on are its.
    pub(crate) base: Option<usize>,
    /// What tail ends look like, as far as that was asked for ([`Source::sketch_tails`]).
    pub sketches: Sketches,
    /// An older image of a similar tree, whose blocks are copied where they are the same.
    pub reuse: Option<Reuse>,
    /// Who is told what the threads do that read it.
    pub watch: Option<Arc<dyn WorkObserver>>,
}

/// An image that is a source.
#[derive(Debug)]
pub(crate) struct SourceImage {
    pub(crate) image: Image,
    /// Its name, for messages.
    pub(crate) path: PathBuf,
    /// Whether its blocks are copied as they are.
    pub(crate) is_copied: bool,
}

impl Source {
    /// This thread is busy while the value lives.
    pub(crate) fn busy(&self, work: Work) -> WorkSpan<'_> {
        WorkSpan::with(self.watch.as_deref(), work)
    }

    /// What of the inputs is not in the tree as it was found, without notes.
    pub fn losses(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter().filter(|warning| !warning.is_note())
    }

    /// Where the content of a node lies, for messages: a path of the file system for what was
    /// scanned there, else the file that holds it.
    pub fn path(&self, node: NodeId) -> PathBuf {
        match &self.contents[node.index()] {
            Content::Nothing => PathBuf::new(),
            Content::Disk(file) => self.disk.path(file),
            Content::Image { image, .. } => self.images[*image as usize].path.clone(),
            Content::Stored { store, .. } | Content::Segments { store, .. } => {
                self.store(*store).path.clone()
            }
        }
    }

    /// Opens the content of a regular file.
    ///
    /// # Errors
    ///
    /// [`Error::Source`] if it cannot be opened.
    pub(crate) fn open(&self, node: NodeId) -> Result<Opened<'_>, Error> {
        if let Some((image, file)) = self.same_file(node) {
            return Ok(Opened::Image { image, file });
        }
        let size_bytes = self.size_bytes(node);
        Ok(match &self.contents[node.index()] {
            Content::Nothing => Opened::Nothing,
            Content::Disk(found) => Opened::Disk {
                file: self.disk.open(found)?,
                found: *found,
                size_bytes,
            },
            Content::Stored {
                store,
                offset_bytes,
            } => Opened::Stored {
                store: self.store(*store),
                offset_bytes: *offset_bytes,
                size_bytes,
            },
            Content::Image { image, file } => Opened::Image {
                image: &self.images[*image as usize].image,
                file,
            },
            Content::Segments { store, segments } => Opened::Segments {
                store: self.store(*store),
                segments,
                size_bytes,
            },
        })
    }

    /// Checks that the files which hold the content of many nodes are still as they were opened,
    /// and that layers which were read late are those that are named.
    ///
    /// # Errors
    ///
    /// [`Error::StoreChanged`]; [`Error::Layer`] and [`Error::Source`] of layers.
    pub(crate) fn check_stores(&self) -> Result<(), Error> {
        let failure = |store: &Store| store.deferred.as_ref()?.failure();
        if let Some(failure) = self.stores.iter().find_map(failure) {
            return Err(failure);
        }
        match self.stores.iter().find(|store| !store.is_unchanged()) {
            None => Ok(()),
            Some(store) => Err(Error::StoreChanged {
                path: store.path.clone(),
            }),
        }
    }

    /// The hash of all bytes of a file, if they have passed by.
    pub(crate) fn known_hash(&self, node: NodeId) -> Option<Hash> {
        match &self.contents[self.tree.data_of(node).index()] {
            Content::Stored {
                store,
                offset_bytes,
            } => self.store(*store).hashes.get(offset_bytes).copied(),
            _ => None,
        }
    }

    fn store(&self, id: StoreId) -> &Store {
        &self.stores[id.0 as usize]
    }

    /// Whether a file takes less space in the source than it is long.
    pub fn is_sparse(&self, node: NodeId) -> bool {
        match &self.contents[node.index()] {
            Content::Disk(file) => file.is_sparse,
            Content::Segments { .. } => true,
            Content::Image { file, .. } => file.sparse_bytes > 0,
            Content::Nothing | Content::Stored { .. } => false,
        }
    }

    /// Length of a regular file in bytes; 0 for everything else.
    pub fn size_bytes(&self, node: NodeId) -> u64 {
        self.tree.file_size(node).unwrap_or(0)
    }

    /// Bytes of the files that the image has already.
    pub(crate) fn kept_bytes(&self) -> u64 {
        let first = self.tree.first_kept.map(NodeId::index);
        let kept = first.and_then(|first| self.tree.nodes.get(first..));
        let kept = kept.unwrap_or_default().iter();
        kept.filter_map(coldpress_layout::Node::size_bytes).sum()
    }

    /// Bytes of all regular files, each once.
    pub fn content_bytes(&self) -> u64 {
        let nodes = self.tree.nodes.iter();
        nodes.filter_map(coldpress_layout::Node::size_bytes).sum()
    }
}
