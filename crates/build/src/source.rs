//! What an image is built from: the tree, and where its files lie.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use coldpress_layout::{Kind, NodeId, Tree};

use crate::error::{self, Error};
use crate::warning::Warning;

/// A scanned source.
#[derive(Debug)]
pub struct Source {
    /// Names and metadata.
    pub tree: Tree,
    /// What the image will not hold as it is.
    pub warnings: Vec<Warning>,
    /// For each node where it lies.
    pub(crate) paths: Vec<PathBuf>,
    /// For each node whether it is a file that takes less disk than it is long.
    pub(crate) sparse: Vec<bool>,
    /// For each node when it was last modified, in s and ns since 1970.
    pub(crate) modified: Vec<(i64, i64)>,
}

impl Source {
    /// Where a node lies in the source.
    pub fn path(&self, node: NodeId) -> &Path {
        &self.paths[node.index()]
    }

    /// Opens a regular file.
    ///
    /// # Errors
    ///
    /// [`Error::Source`] if it cannot be opened, [`Error::Changed`] if it is not the regular file
    /// of the length and modification time that were found.
    pub fn open(&self, node: NodeId) -> Result<File, Error> {
        let path = self.path(node);
        let expected_bytes = self.size_bytes(node);
        let file = File::open(path).map_err(error::source("open", path))?;
        let metadata = file.metadata().map_err(error::source("open", path))?;
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        if !metadata.is_file()
            || metadata.len() != expected_bytes
            || modified != self.modified[node.index()]
        {
            let found = "has another length, time or type";
            return Err(Error::Changed {
                path: path.to_path_buf(),
                expected_bytes,
                found,
            });
        }
        Ok(file)
    }

    /// Length of a regular file in bytes; 0 for everything else.
    pub fn size_bytes(&self, node: NodeId) -> u64 {
        match self.tree.nodes[node.index()].kind {
            Kind::File { size_bytes } => size_bytes,
            _ => 0,
        }
    }

    /// Bytes of all regular files, each once.
    pub fn content_bytes(&self) -> u64 {
        self.tree
            .nodes
            .iter()
            .map(|node| {
                if let Kind::File { size_bytes } = node.kind {
                    size_bytes
                } else {
                    0
                }
            })
            .sum()
    }
}
