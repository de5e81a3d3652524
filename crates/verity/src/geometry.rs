//! Where the levels of a tree lie.

use crate::error::Error;
use crate::parameters::Parameters;
use crate::superblock::SUPERBLOCK_BYTES;

/// Bytes of a sector: superblocks begin at one.
const SECTOR_BYTES: u64 = 512;

/// Hash blocks of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Byte of the file at which the first begins.
    pub start: u64,
    /// How many.
    pub blocks: u64,
}

/// Where everything of a tree lies in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// From the lowest, which has the hashes of data blocks, to the highest, which has one block.
    /// No level, if there is only one data block: its hash is the root hash.
    pub levels: Vec<Level>,
    /// The byte after the last hash block.
    pub end: u64,
}

impl Geometry {
    /// The geometry of a tree.
    ///
    /// * `start`: byte of the file at which the superblock begins, or the tree if it has none.
    ///
    /// # Errors
    ///
    /// [`Error::Empty`] without data blocks, [`Error::TooLarge`] if a position would exceed what a
    /// file can have, [`Error::Misplaced`] if nothing can begin at `start`.
    pub fn new(
        parameters: &Parameters,
        data_blocks: u64,
        start: u64,
        has_superblock: bool,
    ) -> Result<Self, Error> {
        if data_blocks == 0 {
            return Err(Error::Empty);
        }
        let hash_block_bytes = parameters.hash_block.bytes();
        let multiple_of = if has_superblock {
            SECTOR_BYTES
        } else {
            hash_block_bytes
        };
        if !start.is_multiple_of(multiple_of) {
            return Err(Error::Misplaced { start, multiple_of });
        }
        let place = || {
            data_blocks
                .checked_mul(parameters.data_block.bytes())
                .filter(|bytes| i64::try_from(*bytes).is_ok())?;
            let superblock_bytes = if has_superblock {
                SUPERBLOCK_BYTES as u64
            } else {
                0
            };
            let mut next = start
                .checked_add(superblock_bytes)?
                .checked_next_multiple_of(hash_block_bytes)?;
            let mut levels = Vec::new();
            let mut blocks = data_blocks;
            while blocks > 1 {
                blocks = blocks.div_ceil(parameters.entries_per_block());
                levels.push(Level { start: 0, blocks });
            }
            // The highest level comes first.
            for level in levels.iter_mut().rev() {
                level.start = next;
                next = level
                    .blocks
                    .checked_mul(hash_block_bytes)?
                    .checked_add(next)?;
            }
            i64::try_from(next)
                .is_ok()
                .then_some(Self { levels, end: next })
        };
        place().ok_or(Error::TooLarge {
            data_blocks,
            block_bytes: parameters.data_block.bytes(),
        })
    }

    /// Bytes of all hash blocks.
    pub fn hash_bytes(&self) -> u64 {
        self.levels
            .last()
            .map_or(0, |highest| self.end.saturating_sub(highest.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_bytes::BlockBytes;

    #[test]
    fn the_highest_level_comes_first() {
        let parameters = Parameters::default();
        let blocks = |data_blocks| {
            let geometry = Geometry::new(&parameters, data_blocks, 0, true).unwrap();
            let levels = geometry.levels.iter();
            let levels: Vec<_> = levels
                .map(|level| (level.start / 4096, level.blocks))
                .collect();
            (levels, geometry.end / 4096)
        };
        assert_eq!(blocks(1), (vec![], 1));
        assert_eq!(blocks(2), (vec![(1, 1)], 2));
        assert_eq!(blocks(128), (vec![(1, 1)], 2));
        assert_eq!(blocks(129), (vec![(2, 2), (1, 1)], 4));
        assert_eq!(blocks(128 * 128 + 1), (vec![(4, 129), (2, 2), (1, 1)], 133));
    }

    #[test]
    fn sizes_beyond_any_file_are_refused() {
        let parameters = Parameters::default();
        for (data_blocks, start) in [
            (0, 0),
            (u64::MAX, 0),
            (1 << 51, 0),
            (1 << 50, u64::MAX - 511),
            (1, 1 << 63),
            (1, 100),
        ] {
            let found = Geometry::new(&parameters, data_blocks, start, true);
            assert!(found.is_err(), "{data_blocks} {start}");
        }
        let small = Parameters {
            data_block: BlockBytes::new(512).unwrap(),
            ..parameters
        };
        let found = Geometry::new(&small, (1 << 54) - 1, 0, true).unwrap();
        assert_eq!(found.levels.len(), 8);
        assert!(Geometry::new(&small, 1, 512, false).is_err());
    }
}
