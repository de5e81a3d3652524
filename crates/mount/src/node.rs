//! How the kernel names inodes, and which it knows.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Mutex;

use coldpress_format::{InodeRef, Part};

use crate::cache::lock;

/// The most inodes whose numbers are remembered, some 50 MiB; more are named by where they lie.
const KNOWN_MAX: usize = 1 << 20;
/// Set in the id of an inode that is named by where it lies, above the 48 bits of a reference.
const BY_PLACE: u64 = 1 << 48;

/// The name of an inode in requests; programs see it as the inode number.
///
/// It is the number that the image gives, with two exceptions. The kernel calls the root 1, so the
/// inode whose number is 1 has the number of the root in exchange. And a number that is 0 or not
/// the only one of its kind names nothing: then the inode's place stands for it, in numbers above
/// 2^48.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u64);

impl NodeId {
    /// The root of the mount.
    pub const ROOT: Self = Self(1);

    fn by_place(at: InodeRef) -> Self {
        Self(BY_PLACE | at.word())
    }

    fn place(self) -> Option<InodeRef> {
        let word = self.0.checked_sub(BY_PLACE)?;
        InodeRef::parse(word, Part::Inode, 0).ok()
    }
}

/// The inodes that the kernel knows: it names them by number, and images find them by place.
pub(crate) struct Nodes {
    root: InodeRef,
    root_number: u32,
    known: Mutex<HashMap<NodeId, Known>>,
    known_max: usize,
}

/// An inode that the kernel knows.
#[derive(Clone, Copy)]
struct Known {
    at: InodeRef,
    /// By which name it was found first, for messages.
    found_in: Place,
    /// How often the kernel was told of it.
    lookups: u64,
}

/// A name: the directory, and the index of the entry in its listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) directory: NodeId,
    pub(crate) entry: u32,
}

impl Nodes {
    pub(crate) fn new(root: InodeRef, root_number: u32) -> Self {
        Self {
            root,
            root_number,
            known: Mutex::new(HashMap::new()),
            known_max: KNOWN_MAX,
        }
    }

    /// The id that a number stands for, if it can stand for one.
    fn proper(&self, number: u32) -> Option<NodeId> {
        match number {
            0 => None,
            number if number == self.root_number => None,
            1 if self.root_number == 0 => None,
            1 => Some(NodeId(self.root_number.into())),
            number => Some(NodeId(number.into())),
        }
    }

    /// What a program is shown as the number of an inode that it has not asked for.
    pub(crate) fn shown(&self, at: InodeRef, number: u32) -> NodeId {
        if at == self.root {
            return NodeId::ROOT;
        }
        let proper = self.proper(number).filter(|id| {
            let known = lock(&self.known);
            known.get(id).is_none_or(|known| known.at == at)
        });
        proper.unwrap_or(NodeId::by_place(at))
    }

    /// What a program is shown as the number of a parent, which is all that a directory says of it.
    pub(crate) fn shown_parent(&self, number: u32) -> NodeId {
        self.proper(number).unwrap_or(NodeId::ROOT)
    }

    /// The id of an inode that the kernel is told of, until it was forgotten as often.
    pub(crate) fn learn(&self, at: InodeRef, number: u32, found_in: Place) -> NodeId {
        if at == self.root {
            return NodeId::ROOT;
        }
        let Some(id) = self.proper(number) else {
            return NodeId::by_place(at);
        };
        let mut known = lock(&self.known);
        let has_room = known.len() < self.known_max;
        match known.entry(id) {
            Entry::Occupied(mut known) if known.get().at == at => {
                let lookups = &mut known.get_mut().lookups;
                *lookups = lookups.saturating_add(1);
                id
            }
            Entry::Vacant(free) if has_room => {
                free.insert(Known {
                    at,
                    found_in,
                    lookups: 1,
                });
                id
            }
            _ => NodeId::by_place(at),
        }
    }

    /// The kernel has forgotten so many of the times that it was told of an inode.
    pub(crate) fn forget(&self, id: NodeId, lookups: u64) {
        let mut known = lock(&self.known);
        if let Entry::Occupied(mut entry) = known.entry(id) {
            let left = entry.get().lookups.saturating_sub(lookups);
            entry.get_mut().lookups = left;
            if left == 0 {
                entry.remove();
            }
        }
    }

    /// Where an inode lies; `None` if the kernel was never told of it.
    pub(crate) fn at(&self, id: NodeId) -> Option<InodeRef> {
        if id == NodeId::ROOT {
            return Some(self.root);
        }
        let known = lock(&self.known).get(&id).map(|known| known.at);
        known.or_else(|| id.place())
    }

    /// The number that the image gives an inode; `None` if it is named by its place.
    pub(crate) fn number(&self, id: NodeId) -> Option<u32> {
        let number = u32::try_from(id.0).ok()?;
        Some(match number {
            1 => self.root_number,
            number if number == self.root_number => 1,
            number => number,
        })
    }

    /// By which name an inode was found first.
    pub(crate) fn found_in(&self, id: NodeId) -> Option<Place> {
        lock(&self.known).get(&id).map(|known| known.found_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOWHERE: Place = Place {
        directory: NodeId::ROOT,
        entry: 0,
    };

    fn at(offset: u16) -> InodeRef {
        InodeRef {
            block_start: 70_000,
            offset,
        }
    }

    #[test]
    fn ids_are_numbers_but_for_the_root_and_numbers_that_name_nothing() {
        let nodes = Nodes::new(at(0), 90);
        for (number, offset, id) in [
            (90, 0, NodeId::ROOT),
            // The root again, by another number.
            (5, 0, NodeId::ROOT),
            (7, 10, NodeId(7)),
            (1, 20, NodeId(90)),
            (90, 30, NodeId::by_place(at(30))),
            (0, 40, NodeId::by_place(at(40))),
            // Another inode of a number that is taken.
            (7, 50, NodeId::by_place(at(50))),
            (u32::MAX, 60, NodeId(u32::MAX.into())),
        ] {
            assert_eq!(nodes.learn(at(offset), number, NOWHERE), id, "{number}");
            assert_eq!(nodes.shown(at(offset), number), id, "{number}");
            assert_eq!(nodes.at(id), Some(at(offset)), "{number}");
        }
        let numbers = [1, 90, 7, 8, 1 << 32].map(|id| nodes.number(NodeId(id)));
        assert_eq!(numbers, [Some(90), Some(1), Some(7), Some(8), None]);
    }

    #[test]
    fn a_root_without_a_proper_number_takes_nobody_elses() {
        for root_number in [0, 1] {
            let nodes = Nodes::new(at(0), root_number);
            let id = nodes.learn(at(1), 1, NOWHERE);
            assert_eq!(id, NodeId::by_place(at(1)), "{root_number}");
            assert_eq!(nodes.shown_parent(root_number), NodeId::ROOT);
        }
    }

    #[test]
    fn an_inode_is_known_until_it_was_forgotten_as_often_as_told() {
        let nodes = Nodes::new(at(0), 90);
        let id = nodes.learn(at(10), 7, NOWHERE);
        nodes.learn(at(10), 7, NOWHERE);
        nodes.forget(id, 1);
        assert_eq!(nodes.at(id), Some(at(10)));
        nodes.forget(id, 1);
        assert_eq!(nodes.at(id), None);
        // More than there was, and one that was never known.
        nodes.forget(id, u64::MAX);
        // Its number is free for another.
        assert_eq!(nodes.learn(at(11), 7, NOWHERE), NodeId(7));
    }

    #[test]
    fn no_more_inodes_are_remembered_than_allowed() {
        let mut nodes = Nodes::new(at(0), 90);
        nodes.known_max = 2;
        for number in 2..100 {
            let offset = u16::try_from(number).unwrap();
            let id = nodes.learn(at(offset), number, NOWHERE);
            assert_eq!(nodes.at(id), Some(at(offset)));
            assert_eq!(id.0 < BY_PLACE, number < 4, "{number}");
        }
        assert_eq!(lock(&nodes.known).len(), 2);
    }

    #[test]
    fn ids_that_are_no_place_name_nothing() {
        let nodes = Nodes::new(at(0), 90);
        for id in [0, 2, BY_PLACE | 0xffff, BY_PLACE << 1, u64::MAX] {
            assert_eq!(nodes.at(NodeId(id)), None, "{id:#x}");
        }
    }
}
