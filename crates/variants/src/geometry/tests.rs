use coldpress_cost::{AccessStep, Machine, Medium, Reader, predict};
use coldpress_cost::{DirectoryGeometry, FileGeometry, InodeGeometry, MetadataRange};
use coldpress_trace::Access;

use super::*;
use crate::work::work;

fn extent(start_byte: u64, stored_bytes: u32, len_bytes: u32) -> Extent {
    Extent {
        start_byte,
        stored_bytes,
        len_bytes,
        is_stored: stored_bytes == len_bytes,
    }
}

fn range(first: usize, last: usize) -> MetadataRange {
    MetadataRange { first, last }
}

/// A root with a program of two blocks, a text in the third fragment block, and two more names that
/// no start asks for.
fn geometry() -> Geometry {
    let block = 128 << 10;
    let inode = |kind| InodeGeometry {
        inode: range(0, 0),
        kind,
    };
    let program = FileGeometry {
        size_bytes: 2 * u64::from(block) - 5,
        blocks: vec![extent(96, 40_000, block), extent(40_096, 30_000, block - 5)],
        fragment: None,
        list: (0, 90),
        executable: vec![(1, 20), (30, 40)],
    };
    let text = FileGeometry {
        size_bytes: 300,
        fragment: Some(2),
        list: (0, 200),
        ..FileGeometry::default()
    };
    let root = DirectoryGeometry {
        listing: Some(range(1, 2)),
        is_indexed: true,
    };
    let search = Some(range(1, 1));
    let lookup = |place| Lookup { place, search };
    Geometry {
        compressor: Compressor::Zstd,
        block_size: BlockSize::DEFAULT,
        image_bytes: 200_000,
        places: vec![
            inode(InodeGeometryKind::Symlink),
            inode(InodeGeometryKind::File(program)),
            inode(InodeGeometryKind::Directory(root)),
            inode(InodeGeometryKind::File(text)),
        ],
        names: HashMap::from([
            (b"/unused".to_vec(), lookup(0)),
            (b"/program".to_vec(), lookup(1)),
            (
                b"/".to_vec(),
                Lookup {
                    place: 2,
                    search: None,
                },
            ),
            (b"/text".to_vec(), lookup(3)),
        ]),
        fragments: vec![
            extent(0, 1, block),
            extent(1, 2, block),
            extent(70_096, 9_000, block),
        ],
        metadata: vec![
            extent(80_000, 4_000, 8192),
            extent(84_000, 3_000, 8192),
            extent(87_000, 1_000, 900),
            extent(88_500, 50, 100),
        ],
        fragment_table: Some(3),
        id_table: 3,
        hash_tree: None,
    }
}

fn sequence() -> AccessSequence {
    let step = |path, access| AccessStep {
        access,
        path,
        pid: 1,
        compute_share: 0.25,
    };
    let pages = Access::Read {
        first_page: 0,
        last_page: 40,
    };
    AccessSequence {
        paths: [&b"/program"[..], b"/lib/missing", b"/text"]
            .map(<[u8]>::to_vec)
            .to_vec(),
        steps: vec![
            step(0, Access::Lookup),
            step(0, Access::Fault { page: 33 }),
            step(1, Access::List),
            step(2, pages),
        ],
        compute_s: 0.5,
    }
}

#[test]
fn a_start_is_predicted_alike_from_what_is_packed() {
    let (geometry, sequence) = (geometry(), sequence());
    let text = pack(&geometry, &sequence);
    let unpacked = unpack("images[0].geometry", &text, &sequence).unwrap();
    assert_eq!(unpacked.names.len(), 3);
    // What is packed again is the same.
    assert_eq!(pack(&unpacked, &sequence), text);
    assert!(work(&unpacked, &sequence) < 60);
    for reader in [Reader::KERNEL, Reader::FUSE, Reader::Erofs] {
        let of = |geometry| {
            predict(
                geometry,
                &sequence,
                &Medium::HOST,
                &Machine::default(),
                &reader,
            )
        };
        assert_eq!(of(&geometry), of(&unpacked));
    }
}

type Change<'a> = &'a dyn Fn(&mut Geometry);

#[test]
fn a_geometry_that_lies_is_refused() {
    let sequence = sequence();
    let damaged = |change: &dyn Fn(&mut Geometry)| {
        let mut geometry = geometry();
        change(&mut geometry);
        let text = pack(&geometry, &sequence);
        unpack("images[0].geometry", &text, &sequence)
            .unwrap_err()
            .to_string()
    };
    let changes: [(Change<'_>, &str); 7] = [
        (
            &|it| it.image_bytes = 1 << 51,
            "the size of the image 2251799813685248 is above",
        ),
        (
            &|it| it.image_bytes = 100,
            "a block at byte 80000 lies behind the image of 100",
        ),
        (
            &|it| it.metadata[0].stored_bytes = 9000,
            "twice the length of a block 18000 is above 16389",
        ),
        (
            &|it| it.metadata[0].len_bytes = 9000,
            "a metadata block holds 9000 bytes",
        ),
        (
            &|it| it.fragment_table = Some(9),
            "there is no metadata block 10 of 5",
        ),
        (
            &|it| it.fragments.truncate(2),
            "there is no fragment block 3 of 1",
        ),
        (
            &|it| {
                if let InodeGeometryKind::File(file) = &mut it.places[1].kind {
                    file.blocks.pop();
                }
            },
            "a file of 262139 bytes has 1 blocks, not 2",
        ),
    ];
    for (change, expected) in changes {
        let found = damaged(change);
        assert!(found.contains(expected), "{found}");
        assert!(
            found.starts_with("`images[0].geometry` of the index, byte "),
            "{found}"
        );
    }
}
