//! The path of an inode, for messages.
//!
//! No path is kept for this: what the kernel knows was found by a name in a directory that it also
//! knows, so the names are read again where one has to be told.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use crate::file_system::FileSystem;
use crate::node::{NodeId, Place};

/// The most directories above a path that is told.
const DEPTH_MAX: usize = 100;
/// Stands for what is above and not known any more.
const UNKNOWN: &[u8] = b"...";

impl FileSystem {
    /// The path of an inode, as far as it can be told: that under which it was found first.
    pub(crate) fn path(&self, node: NodeId) -> Vec<u8> {
        match self.nodes.found_in(node) {
            Some(place) => self.path_of(place),
            None if node == NodeId::ROOT => b"/".to_vec(),
            None => UNKNOWN.to_vec(),
        }
    }

    /// The path of an inode, by a name under which the kernel knows it; `None` if it is not known
    /// whole.
    pub(crate) fn known_path(&self, node: NodeId) -> Option<PathBuf> {
        let path = self.path(node);
        let is_whole = path.starts_with(b"/");
        is_whole.then(|| PathBuf::from(OsString::from_vec(path)))
    }

    /// The path of a name in a directory.
    pub(crate) fn path_of(&self, place: Place) -> Vec<u8> {
        let mut names: Vec<Vec<u8>> = Vec::new();
        let mut next = Some(place);
        while let Some(place) = next
            && names.len() < DEPTH_MAX
            && let Some(name) = self.name_at(place)
        {
            names.push(name);
            if place.directory == NodeId::ROOT {
                names.push(Vec::new());
                names.reverse();
                return names.join(&b'/');
            }
            next = self.nodes.found_in(place.directory);
        }
        names.push(UNKNOWN.to_vec());
        names.reverse();
        names.join(&b'/')
    }

    fn name_at(&self, place: Place) -> Option<Vec<u8>> {
        let listing = self.listing(self.nodes.at(place.directory)?).ok()?;
        let entry = listing.entries.get(usize::try_from(place.entry).ok()?)?;
        Some(entry.name.clone())
    }
}
