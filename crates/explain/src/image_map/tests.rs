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
