use std::collections::HashMap;

use coldpress_format::Compressor;
use coldpress_image::{Image, MetadataKind, MetadataMap};
use coldpress_layout::Plan;
use coldpress_writer::MetadataLayout;

use crate::trees::{Entry, built, differences, make, options, scanned};

#[test]
fn each_page_of_a_recording_image_names_one_inode_or_listing() {
    let directory = tempfile::tempdir().unwrap();
    let file = |n: usize| {
        (
            format!("file {n}"),
            Entry::File {
                seed: 2,
                len: n * 300,
            },
        )
    };
    // A block list over a page, a listing over a page, an empty directory.
    let large = ("large".to_owned(), Entry::Sparse { len: 8 << 20 });
    let many = Entry::Directory((0..400).map(file).take(300).collect());
    let empty = ("empty".to_owned(), Entry::Directory(vec![]));
    make(
        directory.path(),
        &[file(1), large, ("many".to_owned(), many), empty],
    );
    let source = scanned(directory.path());
    let mut options = options(Some(Compressor::Zstd), 4096);
    options.metadata = MetadataLayout::Spread;
    let bytes = built(&source, &Plan::default(), &options);
    assert_eq!(differences(&bytes, &source), Vec::<String>::new());

    let image = Image::new(Box::new(bytes.clone())).unwrap();
    let map = MetadataMap::new(&image).unwrap();
    let superblock = image.superblock();
    let (first, end) = (
        superblock.inode_table_start,
        superblock.fragment_table_start.unwrap(),
    );
    assert_eq!(first % 4096, 0);
    let mut pages: HashMap<(bool, Vec<u8>), u32> = HashMap::new();
    for page in (first..end).step_by(4096) {
        let found: Vec<_> = map.at(page, 4096).collect();
        assert!(found.len() <= 1, "{found:?}");
        for (kind, path) in found {
            *pages
                .entry((matches!(kind, MetadataKind::Inode), path.to_vec()))
                .or_default() += 1;
        }
    }
    for path in source.tree.paths() {
        assert!(
            pages.contains_key(&(true, path.clone())),
            "no page of inode {path:?}"
        );
    }
    for path in ["/", "/many"] {
        assert!(
            pages.contains_key(&(false, path.into())),
            "no page of listing {path}"
        );
    }
    assert!(pages[&(true, b"/large".to_vec())] > 1);
    assert!(pages[&(false, b"/many".to_vec())] > 1);
}
