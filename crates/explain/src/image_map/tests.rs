use super::*;

/// Bytes of a data block of the example, 4 pages.
pub(crate) const BLOCK_BYTES: u64 = 16_384;
pub(crate) const INODES_START: u64 = 30_000;
pub(crate) const METADATA_BYTES: u64 = 1_500;

/// An image of three files and five fragment blocks; `/a` and `/c` begin with the same block.
pub(crate) fn example() -> ImageMap {
    let data = |start, size_bytes, index| Block {
        start,
        size_bytes,
        len_bytes: BLOCK_BYTES,
        kind: BlockKind::Data { file: 0, index },
    };
    let mut blocks = vec![data(4_096, 5_000, 0), data(9_096, 6_000, 1)];
    let fragments: Vec<u64> = (0..5).map(|index| 20_000 + index * 700).collect();
    for (index, &start) in (0..).zip(&fragments) {
        blocks.push(Block {
            start,
            size_bytes: 700,
            len_bytes: 2_000,
            kind: BlockKind::Fragment(index),
        });
    }
    for index in 0..12 {
        blocks.push(Block {
            start: INODES_START + index * METADATA_BYTES,
            size_bytes: METADATA_BYTES,
            len_bytes: 8_192,
            kind: BlockKind::Metadata(DumpArea::InodeTable),
        });
    }
    let file = |path: &[u8], number, size_bytes, starts: &[u64], tail| MappedFile {
        path: path.into(),
        number,
        size_bytes,
        starts: starts.into(),
        tail,
    };
    let files = vec![
        file(b"/a", 1, 2 * BLOCK_BYTES + 100, &[4_096, 9_096], Some(0)),
        file(b"/b", 2, 300, &[], Some(1)),
        file(b"/c", 3, 3 * BLOCK_BYTES, &[4_096, NOWHERE, NOWHERE], None),
    ];
    ImageMap {
        blocks,
        by_number: (0..)
            .zip(&files)
            .map(|(index, file)| (file.number, index))
            .collect(),
        files,
        fragments,
        block_size: BlockSize::new(16_384).unwrap(),
        image_bytes: 60_000,
    }
}

#[test]
fn pages_lead_to_blocks_and_holes_to_none() {
    let map = example();
    for (file, page, start) in [
        (0, 0, Some(4_096)),
        (0, 3, Some(4_096)),
        (0, 4, Some(9_096)),
        (0, 8, Some(20_000)),
        (0, 9, None),
        (1, 0, Some(20_700)),
        (1, 1, None),
        (2, 0, Some(4_096)),
        (2, 4, None),
        (9, 0, None),
        (0, u64::MAX, None),
    ] {
        let block = map
            .block_of_page(file, page)
            .map(|block| map.blocks[block].start);
        assert_eq!(block, start, "page {page} of {file}");
    }
    assert_eq!(map.file_of_inode(3), Some(2));
    assert_eq!(map.file_of_inode(1 << 32 | 1), None);
}

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

#[test]
fn a_real_image_is_mapped_without_gaps_in_its_files() {
    let bytes: &'static [u8] = include_bytes!("../../../image/tests/it/small-image");
    let image = Image::new(Box::new(bytes)).unwrap();
    let map = ImageMap::new(&image, Box::new(bytes), &mut || ControlFlow::Continue(())).unwrap();
    assert!(!map.files().is_empty());
    for (index, file) in map.files().iter().enumerate() {
        for page in 0..file.page_count() {
            assert!(
                map.block_of_page(index, page).is_some(),
                "{page} of {file:?}"
            );
        }
    }
    let areas: Vec<_> = map
        .blocks()
        .iter()
        .filter(|block| block.is_metadata())
        .collect();
    assert!(areas.len() > 3, "{areas:?}");
    assert!(map.blocks().is_sorted_by_key(|block| block.start));
}
