//! The hash tree of dm-verity between a reader and its device: which hash blocks are read with the
//! data, as `drivers/md/dm-verity-target.c` of Linux reads them.

use std::collections::HashSet;
use std::ops::Range;

/// Divided by the bytes of a data block, it is the number of hash blocks that are read together
/// (`DM_VERITY_DEFAULT_PREFETCH_SIZE`, and so the kernel divides it).
const PREFETCH_BYTES: u64 = 256 << 10;

/// A hash tree through which an image is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashTree {
    /// Bytes of data under each hash.
    pub data_block_bytes: u64,
    /// Bytes of a block of hashes.
    pub hash_block_bytes: u64,
    /// Hashes in a block.
    pub hashes_per_block: u64,
    /// From the lowest level, which has the hashes of data blocks, to the highest: its hash blocks,
    /// by their numbers on the device that has the tree. A single data block has no level.
    pub levels: Vec<Range<u64>>,
    /// Image byte at which the device begins that has the tree: 0 if the image has it, a byte after
    /// the image if it is on another.
    pub device_start_byte: u64,
}

impl HashTree {
    /// The hash blocks of a level that cover data blocks.
    fn covering(&self, level: usize, data_blocks: &Range<u64>) -> Option<Range<u64>> {
        let place = self.levels.get(level)?;
        let power = u32::try_from(level + 1).ok()?;
        let covered = self.hashes_per_block.checked_pow(power)?.max(1);
        let first = place.start + data_blocks.start / covered;
        let last = place.start + data_blocks.end.saturating_sub(1) / covered;
        Some(first..(last + 1).min(place.end))
    }

    /// Blocks of the lowest level, and all around them up to the multiples of the cluster
    /// (`verity_prefetch_io`). The kernel aligns numbers of the device, so that data and upper
    /// levels before them may be among these.
    fn cluster(&self, blocks: Range<u64>) -> Range<u64> {
        let count = PREFETCH_BYTES / self.data_block_bytes.max(1);
        let behind_all = self.levels.first().map_or(blocks.end, |place| place.end);
        if count == 0 {
            return blocks;
        }
        let count = 1 << count.ilog2();
        blocks.start - blocks.start % count..blocks.end.next_multiple_of(count).min(behind_all)
    }

    fn bytes(&self, blocks: &Range<u64>) -> (u64, u64) {
        let start = self.device_start_byte + blocks.start * self.hash_block_bytes;
        (start, (blocks.end - blocks.start) * self.hash_block_bytes)
    }
}

/// A hash tree, and which of its blocks are in memory (`dm-bufio`, which has room for all).
#[derive(Debug)]
pub(crate) struct Hashes {
    tree: HashTree,
    present: HashSet<u64>,
}

impl Hashes {
    pub(crate) fn new(tree: HashTree) -> Self {
        let present = HashSet::new();
        Self { tree, present }
    }

    /// Bytes of a data block, the least that is read.
    pub(crate) fn data_block_bytes(&self) -> u64 {
        self.tree.data_block_bytes.max(1)
    }

    /// What is read of the tree, as starts and lengths in bytes, to verify data: first what is read
    /// at the same time as the data, then what is read when these are there, each on its own. All
    /// of it is in memory from now on.
    pub(crate) fn read(&mut self, start_byte: u64, end_byte: u64) -> [Vec<(u64, u64)>; 2] {
        let block = self.data_block_bytes();
        let data_blocks = start_byte / block..end_byte.div_ceil(block);
        let top = self.tree.levels.len().saturating_sub(1);
        let mut ahead = Vec::new();
        for level in (0..top).rev() {
            if let Some(blocks) = self.tree.covering(level, &data_blocks) {
                let blocks = if level == 0 {
                    self.tree.cluster(blocks)
                } else {
                    blocks
                };
                ahead.extend(self.absent(blocks));
            }
        }
        // The uppermost block is not read ahead: it is taken to be there.
        let root = self.tree.covering(top, &data_blocks);
        let root = root.map(|blocks| self.absent(blocks)).unwrap_or_default();
        [ahead, root].map(|runs| runs.iter().map(|run| self.tree.bytes(run)).collect())
    }

    /// Runs of blocks that are not in memory, and are from now on.
    fn absent(&mut self, blocks: Range<u64>) -> Vec<Range<u64>> {
        let mut runs: Vec<Range<u64>> = Vec::new();
        for block in blocks {
            if !self.present.insert(block) {
                continue;
            }
            match runs.last_mut().filter(|run| run.end == block) {
                Some(run) => run.end += 1,
                None => runs.push(block..block + 1),
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree after an image of 22,099 blocks, 88 MiB: 173 blocks of hashes, 2 above, 1 above.
    fn appended() -> HashTree {
        let superblock = 22_099;
        HashTree {
            data_block_bytes: 4096,
            hash_block_bytes: 4096,
            hashes_per_block: 128,
            levels: vec![
                superblock + 4..superblock + 177,
                superblock + 2..superblock + 4,
                superblock + 1..superblock + 2,
            ],
            device_start_byte: 0,
        }
    }

    #[test]
    fn hash_blocks_are_read_in_clusters_and_once() {
        let mut hashes = Hashes::new(appended());
        // 22,103 is the first block of the lowest level; its cluster of 64 begins at 22,080, with
        // the last data blocks, the superblock and the upper levels. 22,101 is read before that.
        let [ahead, root] = hashes.read(0, 4096);
        assert_eq!(
            ahead,
            [
                (22_101 * 4096, 4096),
                (22_080 * 4096, 21 * 4096),
                (22_102 * 4096, 42 * 4096)
            ]
        );
        assert_eq!(root, []);
        assert_eq!(hashes.read(8192, 16_384), [vec![], vec![]]);
        // 41 blocks of hashes cover 5,248 blocks of data.
        assert_eq!(hashes.read(5247 * 4096, 5248 * 4096), [vec![], vec![]]);
        let [ahead, _] = hashes.read(5248 * 4096, 5249 * 4096);
        assert_eq!(ahead, [(22_144 * 4096, 64 * 4096)]);
        // Up to the end of the tree.
        let [ahead, root] = hashes.read(22_098 * 4096, 22_099 * 4096);
        assert_eq!(ahead, [(22_272 * 4096, 4 * 4096)]);
        assert_eq!(root, []);
    }

    #[test]
    fn the_uppermost_block_is_read_when_it_is_needed() {
        for (levels, expected) in [
            (vec![], [vec![], vec![]]),
            (
                vec![Range { start: 1, end: 2 }],
                [vec![], vec![(104_096, 4096)]],
            ),
            (vec![2..4, 1..2], [vec![(100_000, 16_384)], vec![]]),
            (
                vec![130..300, 128..130, 127..128],
                [
                    vec![(624_288, 4096), (628_384, 63 * 4096)],
                    vec![(620_192, 4096)],
                ],
            ),
        ] {
            let tree = HashTree {
                levels,
                device_start_byte: 100_000,
                ..appended()
            };
            assert_eq!(Hashes::new(tree).read(0, 4096), expected);
        }
    }
}
