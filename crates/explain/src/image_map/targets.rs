//! From a read of the device to the blocks that it was made for.

use crate::image_map::{Block, ImageMap};

/// A sector of the file system has 1 KiB, or what the device asks for.
const SECTOR_MAX_BYTES: u64 = 4096;
/// A read begins and ends with sectors, so it may reach over both ends of its block by nearly as
/// much.
const SLACK_MAX_BYTES: u64 = 2 * SECTOR_MAX_BYTES;

impl ImageMap {
    /// The blocks that a read of the device was made for, and whether it holds them whole.
    ///
    /// The kernel reads one block at a time, rounded to sectors, so that the ends of its neighbors,
    /// and small neighbors whole, come with it: it is the one that fills the read best. A larger
    /// read is for all blocks in it; a smaller one is for a part of a block, such as the header of
    /// a metadata block.
    ///
    /// * `file`: the one that the thread reads, if it reads one. Small blocks of other files in the
    ///   sector of a header only come with it.
    pub(crate) fn targets(
        &self,
        start_byte: u64,
        len_bytes: u64,
        file: Option<usize>,
    ) -> (Vec<usize>, bool) {
        let end = start_byte.saturating_add(len_bytes);
        let first = self
            .blocks
            .partition_point(|block| block.start < start_byte);
        let begins_inside = || {
            let blocks = self.blocks.iter().enumerate().skip(first);
            blocks.take_while(|(_, block)| block.start < end)
        };
        let whole = || begins_inside().filter(|(_, block)| block.end() <= end);
        let slack = |block: &Block| (block.start - start_byte).saturating_add(end - block.end());
        // The header is what a read of metadata begins with.
        let header = || begins_inside().find(|(_, block)| block.is_metadata());
        let is_of_header = len_bytes <= SECTOR_MAX_BYTES
            && header().is_some_and(|(_, block)| block.end() > end)
            && !whole().any(|(index, _)| file.is_some_and(|file| self.holds(index, file)));
        let best = whole().min_by_key(|(_, block)| slack(block));
        let Some((best, block)) = best.filter(|_| !is_of_header) else {
            let before = first.checked_sub(1).and_then(|index| {
                let block = self.blocks.get(index)?;
                (block.end() > start_byte).then_some(index)
            });
            let part = header()
                .map(|(index, _)| index)
                .or(before)
                .or_else(|| begins_inside().next().map(|(index, _)| index));
            return (part.into_iter().collect(), false);
        };
        if slack(block) <= SLACK_MAX_BYTES {
            return (vec![best], true);
        }
        (whole().map(|(index, _)| index).collect(), true)
    }
}

#[cfg(test)]
mod tests {
    use crate::image_map::tests::example;

    #[test]
    fn reads_are_for_the_block_that_fills_them() {
        let map = example();
        let starts = |blocks: &[usize]| -> Vec<u64> {
            blocks
                .iter()
                .map(|&block| map.blocks[block].start)
                .collect()
        };
        for (start, len, expected, is_whole) in [
            // Rounded to 1 KiB, and to 4 KiB.
            (4_096, 5_120, &[4_096][..], true),
            (8_192, 7_168, &[9_096], true),
            (8_192, 8_192, &[9_096], true),
            // The header of a metadata block, and the block.
            (30_720, 1_024, &[31_500], false),
            (30_720, 3_072, &[31_500], true),
            (31_232, 2_048, &[31_500], true),
            // Inside of a block.
            (10_240, 1_024, &[9_096], false),
            // Larger than any block and its slack.
            (4_096, 60_000, &[], true),
            (1_000_000, 1_024, &[], false),
            (u64::MAX, u64::MAX, &[], false),
        ] {
            let (blocks, whole) = map.targets(start, len, None);
            if expected.is_empty() && is_whole {
                assert_eq!(blocks.len(), map.blocks.len());
            } else {
                assert_eq!(starts(&blocks), expected, "{start} + {len}");
            }
            assert_eq!(whole, is_whole, "{start} + {len}");
        }
    }

    /// A fragment block of 150 bytes lies in the sector where the inode table begins.
    #[test]
    fn a_sector_with_a_header_is_for_the_file_that_is_read_or_for_the_header() {
        let mut map = example();
        let last = map.blocks.partition_point(|block| block.start < 22_800);
        (map.blocks[last].start, map.blocks[last].size_bytes) = (29_800, 150);
        map.fragments[4] = 29_800;
        map.files[1].tail = Some(4);
        for (file, expected) in [
            (None, (30_000, false)),
            (Some(0), (30_000, false)),
            (Some(1), (29_800, true)),
        ] {
            let (blocks, is_whole) = map.targets(29_696, 1_024, file);
            let [block] = blocks.as_slice() else {
                panic!("{blocks:?}")
            };
            assert_eq!((map.blocks[*block].start, is_whole), expected, "{file:?}");
        }
    }
}
