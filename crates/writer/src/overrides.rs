//! Owners, modes, times, xattrs and security labels that replace those of the inputs.
//!
//! They come in the order of mksquashfs 4.7, in two steps around the pseudo definitions:
//!
//! 1. Before them: the root directory's own values; xattrs of the inputs are left out and added.
//! 2. After them: owners and modes for everything, which so beat those of pseudo definitions and of
//!    the root directory; the offset of owners; times; labels.
//!
//! With [`Overrides::pseudo_wins`], owners and modes for everything come in the first step.

mod contexts;
mod mode;
mod owners;
mod times;
mod xattrs;

use coldpress_layout::{Kind, Node, Tree};
pub use contexts::FileContexts;
pub use mode::Mode;
pub use owners::Owners;
pub use times::{Time, Times, parse_time};
pub use xattrs::Xattrs;
pub(crate) use xattrs::{has_user_xattrs, set as set_xattr};

use crate::error::Error;
use crate::shared_xattrs::SharedXattrs;

/// What replaces the metadata of the inputs; by default nothing.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Owners and groups.
    pub owners: Owners,
    /// The mode of everything that is no directory, symlinks too.
    pub file_mode: Option<Mode>,
    /// The mode of directories.
    pub directory_mode: Option<Mode>,
    /// The mode of the root directory, unless there is one for directories.
    pub root_mode: Option<Mode>,
    /// Modification times.
    pub times: Times,
    /// Extended attributes.
    pub xattrs: Xattrs,
    /// Security labels.
    pub contexts: Option<FileContexts>,
    /// Whether pseudo definitions have the last word on owners and modes (`-pseudo-override`).
    pub pseudo_wins: bool,
}

impl Overrides {
    /// The step before the pseudo definitions.
    ///
    /// * `nodes`: those of a draft; the first is the root directory.
    /// * `shared`: the xattrs that they have.
    pub(crate) fn before_pseudo(&self, nodes: &mut [Node], shared: &mut SharedXattrs) {
        if let Some(root) = nodes.first_mut() {
            if let (Some(mode), None) = (&self.root_mode, &self.directory_mode) {
                root.mode = mode.apply(root.mode, true);
            }
            self.owners.set_root(root);
            self.times.set_root(root);
        }
        for node in nodes {
            self.xattrs.set(node, shared);
            if self.pseudo_wins {
                self.force(node);
            }
        }
    }

    /// The step after the pseudo definitions.
    ///
    /// * `latest_s`: `SOURCE_DATE_EPOCH`, seconds since 1970.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] if an owner would be over 32 bits with the offset.
    pub(crate) fn after_pseudo(&self, tree: &mut Tree, latest_s: Option<u32>) -> Result<(), Error> {
        let mut shared = SharedXattrs::default();
        for node in &mut tree.nodes {
            if !self.pseudo_wins {
                self.force(node);
            }
            self.owners.add_offset(node)?;
            self.xattrs.complete(node, &mut shared);
        }
        self.times.set(tree, latest_s);
        if let Some(contexts) = &self.contexts {
            contexts.label(tree, &mut shared);
        }
        Ok(())
    }

    /// Sets what everything gets.
    fn force(&self, node: &mut Node) {
        self.owners.set(node);
        let is_directory = matches!(node.kind, Kind::Directory { .. });
        let mode = if is_directory {
            &self.directory_mode
        } else {
            &self.file_mode
        };
        if let Some(mode) = mode {
            node.mode = mode.apply(node.mode, is_directory);
        }
    }
}
