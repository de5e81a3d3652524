//! From bytes to paths, and one image read by several threads.

use coldpress_format::Body;
use coldpress_image::{Error, Image, MetadataKind, MetadataMap};

use crate::compare::content;
use crate::handmade;

#[test]
fn the_bytes_of_an_inode_name_its_path() {
    let handmade = handmade::image(false);
    let image = Image::new(Box::new(handmade.bytes.clone())).unwrap();
    let map = MetadataMap::new(&image).unwrap();
    for (index, path) in ["/", "/dir", "/dir/file", "/dir/sub", "/fifo"]
        .iter()
        .enumerate()
    {
        let at = handmade.inode_at[index] as u64;
        let found: Vec<_> = map.at(at, 1).collect();
        assert_eq!(found, [(MetadataKind::Inode, path.as_bytes())]);
    }
    let listing: Vec<_> = map.at(handmade.listing_at as u64, 1).collect();
    assert_eq!(listing, [(MetadataKind::Listing, &b"/"[..])]);
    let (from, to) = (handmade.inode_at[1] as u64, handmade.inode_at[3] as u64);
    let found: Vec<_> = map.at(from, to - from).map(|(_, path)| path).collect();
    assert_eq!(found, [&b"/dir"[..], b"/dir/file"]);
    assert_eq!(map.at(0, 96).count(), 0);
    assert_eq!(map.at(u64::MAX, u64::MAX).count(), 0);
    assert_eq!(map.path_of_inode(7), Some(&b"/tail"[..]));
    assert_eq!(map.path_of_inode(9), None);
}

#[test]
fn a_compressed_metadata_block_names_all_it_holds() {
    let handmade = handmade::image(true);
    let image = Image::new(Box::new(handmade.bytes.clone())).unwrap();
    let map = MetadataMap::new(&image).unwrap();
    let inodes = map.at(handmade.superblock.inode_table_start, 1);
    assert_eq!(
        inodes
            .filter(|(kind, _)| *kind == MetadataKind::Inode)
            .count(),
        8
    );
}

#[test]
fn threads_read_one_image_at_once() {
    let image = Image::new(Box::new(handmade::image(true).bytes)).unwrap();
    let read = || -> Result<Vec<u8>, Error> {
        let (_, inode) = image.find(b"/dir/file")?.expect("it is there");
        let Body::File(file) = &inode.body else {
            panic!("it is a file");
        };
        content(&image, file)
    };
    let expected = handmade::file_content();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(read().unwrap(), expected);
                }
            });
        }
    });
}
