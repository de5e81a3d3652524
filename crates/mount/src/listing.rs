//! A directory's names.

use std::sync::Arc;

use coldpress_format::{Entry, InodeKind};

use crate::cache::Weight;
use crate::node::NodeId;

/// The names of a directory, as they are kept.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) entries: Vec<Entry>,
    /// The number that the directory gives as its parent's.
    pub(crate) parent: u32,
}

impl Weight for Listing {
    fn weight_bytes(&self) -> u64 {
        // A name is an allocation of its own, with a header and rounded up.
        let names = self
            .entries
            .iter()
            .map(|entry| entry.name.len() as u64 + 16);
        let entries = self.entries.len() as u64 * size_of::<Entry>() as u64;
        names.fold(entries, u64::saturating_add)
    }
}

impl Listing {
    /// The index of a name.
    pub(crate) fn find(&self, name: &[u8]) -> Option<usize> {
        let found = self
            .entries
            .binary_search_by(|entry| entry.name.as_slice().cmp(name));
        found.ok()
    }
}

/// A directory that is being read.
///
/// Its names have places: 0 is `.`, 1 is `..`, the others follow in byte order. Reading goes on at
/// any place, in any order and after any time: the image does not change.
#[derive(Debug)]
pub struct Directory {
    pub(crate) node: NodeId,
    pub(crate) parent: NodeId,
    pub(crate) listing: Arc<Listing>,
}

/// A name in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name<'a> {
    /// `.`, and the directory itself.
    Itself(NodeId),
    /// `..`, and what the directory gives as its parent.
    Parent(NodeId),
    /// A name that the image stores.
    Stored {
        /// The bytes.
        name: &'a [u8],
        /// Its index among these.
        index: usize,
        /// The type that the directory states.
        kind: InodeKind,
    },
}

impl Directory {
    /// The names from a place on, each with the place of the next.
    pub fn names_from(&self, place: u64) -> impl Iterator<Item = (Name<'_>, u64)> {
        let dots = [Name::Itself(self.node), Name::Parent(self.parent)];
        let stored = self.listing.entries.iter().enumerate();
        let stored = stored.map(|(index, entry)| Name::Stored {
            name: &entry.name,
            index,
            kind: entry.kind,
        });
        let skipped = usize::try_from(place).unwrap_or(usize::MAX);
        let names = dots.into_iter().chain(stored).skip(skipped);
        names.zip(place.saturating_add(1)..)
    }

    /// The index of a stored name.
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        self.listing.find(name)
    }
}
