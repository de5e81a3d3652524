use std::sync::Arc;

use coldpress_assemble::MetadataLayout;
use coldpress_format::SUPERBLOCK_SIZE;
use coldpress_layout::{Kind, Node, Plan, Tails, order};

use super::*;
use crate::geometry::{DirectoryGeometry, InodeGeometryKind};

/// Data blocks take half of what they hold, fragment blocks a third; the file 2 does not compress,
/// and the first block of the file 3 is sparse.
struct Halves;

impl BlockSizes for Halves {
    fn stored_bytes(&self, file: NodeId, block: u64, len_bytes: u32) -> u32 {
        match (file, block) {
            (NodeId(2), _) => len_bytes,
            (NodeId(3), 0) => 0,
            _ => len_bytes / 2,
        }
    }

    fn fragment_bytes(&self, members: &[NodeId], len_bytes: u32) -> u32 {
        assert!(!members.is_empty());
        len_bytes / 3
    }
}

fn node(kind: Kind) -> Node {
    Node {
        kind,
        mode: 0o755,
        uid: 0,
        gid: 0,
        mtime_s: 0,
        xattrs: Arc::default(),
    }
}

/// `/dir/a`, `/dir/b`, `/dir/c`, `/link` and `/copy`, which has the data of `a`.
pub(crate) fn tree() -> Tree {
    let file = |size_bytes| node(Kind::File { size_bytes });
    let directory = |entries: &[(&str, u32)]| {
        let entry = |&(name, id): &(&str, u32)| (name.as_bytes().to_vec(), NodeId(id));
        node(Kind::Directory {
            entries: entries.iter().map(entry).collect(),
        })
    };
    Tree {
        nodes: vec![
            directory(&[("copy", 6), ("dir", 4), ("link", 5)]),
            file(10_000),
            file(9_000),
            file(8_192),
            directory(&[("a", 1), ("b", 2), ("c", 3)]),
            node(Kind::Symlink {
                target: b"dir/a".to_vec(),
            }),
            file(10_000),
        ],
        duplicates: [(NodeId(6), NodeId(1))].into(),
        ..Tree::default()
    }
}

fn predicted(tree: &Tree) -> Geometry {
    predicted_from(tree, SUPERBLOCK_SIZE as u64)
}

/// With a data area that begins at a byte.
fn predicted_from(tree: &Tree, data_start: u64) -> Geometry {
    let (order, _) = order(tree, &Plan::default(), BlockSize::MIN, Tails::All);
    let options = ImageOptions {
        compressor: Compressor::Gzip,
        block_size: BlockSize::MIN,
        data_start,
        tables: TableOptions {
            metadata: MetadataLayout::Dense,
            is_exportable: true,
        },
    };
    Geometry::predicted(tree, &order, &options, &Halves).unwrap()
}

#[test]
fn a_file_behind_4_gib_has_the_extended_form() {
    let list = |data_start| {
        predicted_from(&tree(), data_start)
            .file(b"/copy")
            .unwrap()
            .list
    };
    let (near, far) = (list(96), list(5 << 30));
    // It and each file before it is so much longer.
    assert!(
        far.1 > near.1 && (far.1 - near.1).is_multiple_of(24),
        "{near:?} {far:?}"
    );
}

#[test]
fn blocks_lie_behind_each_other_and_duplicates_share_them() {
    let geometry = predicted(&tree());
    let file = geometry.file(b"/dir/a").unwrap();
    assert_eq!(file.blocks.len(), 2);
    assert_eq!(file.blocks[0].end(), file.blocks[1].start_byte);
    assert_eq!(
        (file.blocks[0].stored_bytes, file.blocks[0].is_stored),
        (2048, false)
    );
    let copy = geometry.file(b"/copy").unwrap();
    assert_eq!((&copy.blocks, copy.fragment), (&file.blocks, file.fragment));
    let stored = geometry.file(b"/dir/b").unwrap();
    assert!(
        stored
            .blocks
            .iter()
            .all(|block| block.is_stored && block.stored_bytes == 4096)
    );
    let sparse = geometry.file(b"/dir/c").unwrap();
    assert_eq!(
        (sparse.blocks[0].stored_bytes, sparse.blocks[1].stored_bytes),
        (0, 2048)
    );
    assert_eq!(sparse.fragment, None);
    let tails: u32 = geometry.fragments.iter().map(|block| block.len_bytes).sum();
    assert_eq!(tails, 10_000 % 4096 + 9_000 % 4096);
    let data: u32 = [
        &file.blocks,
        &stored.blocks,
        &sparse.blocks,
        &geometry.fragments,
    ]
    .iter()
    .flat_map(|blocks| blocks.iter())
    .map(|block| block.stored_bytes)
    .sum();
    assert_eq!(geometry.metadata[0].start_byte, 96 + u64::from(data));
    assert!(geometry.image_bytes > geometry.metadata.last().unwrap().start_byte);
}

#[test]
fn every_name_has_its_place() {
    let geometry = predicted(&tree());
    assert_eq!(geometry.names.len(), 7);
    for path in ["/copy", "/dir", "/dir/a", "/dir/b", "/dir/c", "/link"] {
        let name = geometry.names[path.as_bytes()];
        let search = name.search.unwrap();
        // Inodes, listings, fragments, ids: a block each.
        assert_eq!((search.first, search.last), (1, 1), "{path}");
    }
    assert_eq!(geometry.names[&b"/"[..]].search, None);
    assert_eq!(geometry.places[5].kind, InodeGeometryKind::Symlink);
    assert_eq!((geometry.fragment_table, geometry.id_table), (Some(2), 3));
    assert_eq!(geometry.metadata.len(), 4);
}

#[test]
fn an_empty_tree_has_a_root() {
    let tree = Tree {
        nodes: vec![node(Kind::Directory {
            entries: Vec::new(),
        })],
        ..Tree::default()
    };
    let geometry = predicted(&tree);
    assert_eq!((geometry.places.len(), geometry.fragment_table), (1, None));
    assert_eq!(
        geometry.places[0].kind,
        InodeGeometryKind::Directory(DirectoryGeometry::default())
    );
}
