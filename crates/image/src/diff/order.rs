//! How the files that two images have in common lie in them.

use std::collections::HashSet;

use coldpress_format::{File, InodeRef};

/// How the files that two images have in common lie in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutDifference {
    /// The first file, in the order of the left data area, behind which data lies in another order
    /// on the right.
    pub data_order: Option<Vec<u8>>,
    /// The same of tail ends in fragment blocks.
    pub tail_order: Option<Vec<u8>>,
    /// The same of the inode table.
    pub inode_order: Option<Vec<u8>>,
    /// Files of which one image has the tail end in a fragment block and the other has not.
    pub tails_packed_differently: u64,
    /// The first of them in the walk.
    pub first_packed_differently: Option<Vec<u8>>,
    /// Files whose inodes have another number.
    pub renumbered: u64,
    /// Files that have their data in common with an earlier one, on the left and on the right.
    pub sharing: (u64, u64),
}

/// Positions of the same things in both images.
#[derive(Debug, Default)]
pub(super) struct Positions {
    of: Vec<(u64, u64, InodeRef)>,
}

impl Positions {
    pub(super) fn push(&mut self, left: u64, right: u64, at: InodeRef) {
        self.of.push((left, right, at));
    }

    /// The inode, on the left, behind whose place the order is another.
    ///
    /// What shares its place with something else, as duplicates do, is looked at once.
    pub(super) fn first_out_of_order(&mut self) -> Option<InodeRef> {
        self.of.sort_unstable();
        let mut seen = HashSet::new();
        let (mut last_left, mut last_right, mut last_at) = (None, None, None);
        for (left, right, at) in &self.of {
            if last_left == Some(left) || !seen.insert(right) {
                continue;
            }
            if last_right.is_some_and(|last| last > right) {
                return last_at;
            }
            (last_left, last_right, last_at) = (Some(left), Some(right), Some(*at));
        }
        None
    }

    /// How many share their place with an earlier one, on the left and on the right.
    pub(super) fn sharing(&self) -> (u64, u64) {
        let distinct = |places: HashSet<u64>| (self.of.len() - places.len()) as u64;
        (
            distinct(self.of.iter().map(|(left, _, _)| *left).collect()),
            distinct(self.of.iter().map(|(_, right, _)| *right).collect()),
        )
    }
}

/// Where the data blocks of a file lie; `None` if it has none that take space.
pub(super) fn data_start(file: &File) -> Option<u64> {
    let has_data = file.blocks.iter().any(|word| !word.is_sparse());
    has_data.then_some(file.start)
}

/// A number that orders tail ends as they lie.
pub(super) fn tail_place(file: &File) -> Option<u64> {
    let tail = file.tail?;
    Some(u64::from(tail.fragment) << 32 | u64::from(tail.offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thing_behind_which_the_order_is_another_is_named() {
        let at = |offset| InodeRef {
            block_start: 0,
            offset,
        };
        for (places, expected, sharing) in [
            (&[][..], None, (0, 0)),
            (&[(1, 10), (2, 20), (3, 30)][..], None, (0, 0)),
            (&[(3, 30), (1, 10), (2, 20)], None, (0, 0)),
            (&[(1, 10), (2, 30), (3, 20)], Some(2), (0, 0)),
            // The same data in two files on both sides, then on the left alone.
            (&[(1, 10), (1, 10), (2, 20)], None, (1, 1)),
            (&[(1, 10), (1, 30), (2, 20)], None, (1, 0)),
            (&[(1, 10), (2, 20), (3, 10)], None, (0, 1)),
        ] {
            let mut positions = Positions::default();
            for (left, right) in places {
                let offset = u16::try_from(*left).unwrap();
                positions.push(*left, *right, at(offset));
            }
            let found = positions.first_out_of_order();
            assert_eq!(found, expected.map(at), "{places:?}");
            assert_eq!(positions.sharing(), sharing, "{places:?}");
        }
    }
}
