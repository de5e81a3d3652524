//! Defects with a name: each that made another reader of SquashFS crash, loop or write outside.

use std::ops::ControlFlow;

use coldpress_format::{BlockWord, Body, Corrupt, Part, Rule};
use coldpress_image::{Error, Image, Problem, check, walk};

use crate::handmade::{self, Handmade, Node};

pub(crate) fn open(bytes: &[u8]) -> Result<Image, Error> {
    Image::new(Box::new(bytes.to_vec()))
}

/// The corruption that an error is about.
pub(crate) fn corrupt(error: Error) -> Corrupt {
    match error {
        Error::Corrupt(corrupt) => corrupt,
        Error::InFile { source, .. } => corrupt(*source),
        other => panic!("{other}"),
    }
}

/// The stored image with bytes put at a place.
pub(crate) fn patched(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut image = handmade::image(false).bytes;
    image[at..at + bytes.len()].copy_from_slice(bytes);
    image
}

pub(crate) fn walk_all(image: &Image) -> Result<u32, Error> {
    let mut count = 0;
    walk(image, &mut |_| {
        count += 1;
        Ok(())
    })?;
    Ok(count)
}

pub(crate) fn found(image: &Image) -> Vec<Problem> {
    check(image, &mut |_| ControlFlow::Continue(())).unwrap()
}

pub(crate) fn problems(image: &Image) -> Vec<String> {
    found(image).iter().map(ToString::to_string).collect()
}

/// The image of changed nodes.
pub(crate) fn changed(change: impl FnOnce(&mut Vec<Node>)) -> Handmade {
    let mut nodes = handmade::nodes();
    change(&mut nodes);
    handmade::write(&nodes, false)
}

#[test]
fn the_handmade_image_is_sound() {
    for compressed in [false, true] {
        let image = open(&handmade::image(compressed).bytes).unwrap();
        assert_eq!(walk_all(&image).unwrap(), 8);
        assert_eq!(problems(&image), [""; 0]);
        let (_, inode) = image.find(b"/tail").unwrap().unwrap();
        let pair = |name: &[u8]| (name.to_vec(), b"value".to_vec());
        assert_eq!(
            *image.xattrs(&inode).unwrap(),
            [pair(b"user.one"), pair(b"user.two")]
        );
    }
}

#[test]
fn a_root_reference_behind_its_block_is_refused() {
    for offset in [8192_u16, 8193, 40_000, 65_535] {
        let error = open(&patched(32, &offset.to_le_bytes())).unwrap_err();
        assert_eq!(corrupt(error).part, Part::Superblock, "{offset}");
    }
    let image = open(&patched(32, &8191_u16.to_le_bytes())).unwrap();
    assert_eq!(corrupt(image.root().unwrap_err()).part, Part::Inode);
    assert!(!problems(&image).is_empty());
}

#[test]
fn a_block_log_that_is_not_the_block_size_is_refused() {
    for log in [0_u16, 11, 13, 21, 31, 63, 65_535] {
        let error = open(&patched(22, &log.to_le_bytes())).unwrap_err();
        assert!(
            matches!(corrupt(error).rule, Rule::Mismatch { .. }),
            "{log}"
        );
    }
}

#[test]
fn no_position_in_the_superblock_is_trusted() {
    let handmade = handmade::image(false);
    let used = handmade.superblock.bytes_used;
    for field in (40..96).step_by(8) {
        for value in [
            0,
            95,
            96,
            used,
            used - 1,
            used + 1,
            1 << 63,
            u64::MAX - 1,
            u64::MAX,
        ] {
            let bytes = patched(field, &value.to_le_bytes());
            if let Ok(image) = open(&bytes) {
                let _ = walk_all(&image);
                problems(&image);
            }
        }
    }
}

#[test]
fn counts_beyond_their_tables_are_refused_without_allocating() {
    for (field, value) in [
        (16, 0x0fff_ffff_u32),
        (16, u32::MAX),
        (4, u32::MAX - 1),
        (4, 0),
    ] {
        assert!(
            open(&patched(field, &value.to_le_bytes())).is_err(),
            "{field} {value}"
        );
    }
    assert!(open(&patched(26, &u16::MAX.to_le_bytes())).is_err());
    // The header of the xattr id table: its count.
    let start = handmade::image(false).superblock.xattr_table_start.unwrap();
    let at = usize::try_from(start).unwrap() + 8;
    for count in [0_u32, 1 << 31, u32::MAX] {
        assert!(open(&patched(at, &count.to_le_bytes())).is_err(), "{count}");
    }
}

/// Reads a file whose inode was changed.
fn read_changed(path: &[u8], index: usize, change: fn(&mut coldpress_format::File)) -> Corrupt {
    let handmade = changed(|nodes| {
        let Body::File(file) = &mut nodes[index].inode.body else {
            panic!("it is a file");
        };
        change(file);
    });
    let image = open(&handmade.bytes).unwrap();
    assert!(!problems(&image).is_empty());
    let (_, inode) = image.find(path).unwrap().unwrap();
    let Body::File(file) = &inode.body else {
        panic!("it is a file");
    };
    let error = crate::compare::content(&image, file).unwrap_err();
    let mut buf = vec![0; usize::try_from(file.size_bytes).unwrap()];
    assert!(image.read_at(file, 0, &mut buf).is_err());
    corrupt(error)
}

#[test]
fn tail_ends_outside_their_fragment_block_are_refused() {
    for index in [1, 2, u32::MAX - 1] {
        let handmade = changed(|nodes| {
            if let Body::File(file) = &mut nodes[7].inode.body {
                file.tail = file.tail.map(|mut tail| {
                    tail.fragment = index;
                    tail
                });
            }
        });
        let image = open(&handmade.bytes).unwrap();
        let texts = problems(&image).join("\n");
        assert!(texts.contains("`/tail`: fragment table"), "{texts}");
    }
    let outside = read_changed(b"/tail", 7, |file| {
        if let Some(tail) = &mut file.tail {
            tail.offset = 51;
        }
    });
    assert_eq!(
        outside.rule,
        Rule::Truncated {
            needed: 101,
            found: 100
        }
    );
    let outside = read_changed(b"/tail", 7, |file| {
        if let Some(tail) = &mut file.tail {
            tail.offset = u32::MAX;
        }
    });
    assert_eq!(outside.part, Part::FragmentBlock);
}

#[test]
fn data_outside_the_data_area_is_refused() {
    let before = read_changed(b"/dir/file", 2, |file| file.start = 95);
    assert_eq!(before.part, Part::DataBlock);
    let behind = read_changed(b"/dir/file", 2, |file| file.start = i64::MAX.unsigned_abs());
    assert_eq!(behind.part, Part::DataBlock);
}

#[test]
fn a_stored_block_of_another_length_is_refused() {
    let short = read_changed(b"/dir/file", 2, |file| {
        file.blocks = vec![BlockWord::new(4095, false); 2];
        file.tail = None;
        file.size_bytes = 8192;
    });
    assert!(
        matches!(
            short.rule,
            Rule::Mismatch {
                found: 4095,
                expected: 4096,
                ..
            }
        ),
        "{short}"
    );
}

#[test]
fn sizes_in_inodes_are_compared_with_the_bytes_at_hand() {
    let handmade = handmade::image(false);
    // A basic file's size, a symlink's target size, a directory's listing size and place.
    let (file, link, sub) = (
        handmade.inode_at[2],
        handmade.inode_at[5],
        handmade.inode_at[1],
    );
    let large = u32::MAX.to_le_bytes();
    for (at, bytes) in [
        (file + 28, &large[..]),
        (link + 20, &large),
        (link + 20, &65_536_u32.to_le_bytes()),
        (link + 20, &65_535_u32.to_le_bytes()),
        (link + 20, &0_u32.to_le_bytes()),
        (sub + 24, &u16::MAX.to_le_bytes()),
        (sub + 24, &2_u16.to_le_bytes()),
        (sub + 26, &8192_u16.to_le_bytes()),
        (sub + 26, &8191_u16.to_le_bytes()),
        (sub + 16, &large),
    ] {
        let image = open(&patched(at, bytes)).unwrap();
        assert!(walk_all(&image).is_err(), "{at} {bytes:?}");
        assert!(!problems(&image).is_empty());
    }
}

#[test]
fn files_of_endless_size_with_few_blocks_are_refused() {
    for size in [1 << 62, i64::MAX.unsigned_abs(), 1 << 63, u64::MAX] {
        let handmade = changed(|nodes| {
            // A link count of 2 makes an extended inode, whose size has 64 bits.
            nodes[6].inode.link_count = 2;
            if let Body::File(file) = &mut nodes[6].inode.body {
                file.size_bytes = size;
            }
        });
        let image = open(&handmade.bytes).unwrap();
        let error = corrupt(walk_all(&image).unwrap_err());
        assert_eq!(error.part, Part::Inode, "{size}");
    }
}

#[test]
fn words_of_a_block_list_with_high_bits_are_refused() {
    let handmade = handmade::image(false);
    let words = handmade.inode_at[2] + 32;
    for word in [1_u32 << 25, 1 << 31, 0x1001, (1 << 24) | 0x1001] {
        let image = open(&patched(words, &word.to_le_bytes())).unwrap();
        let read = walk(&image, &mut |visited| visited.file(&image).map(|_| ()));
        assert_eq!(corrupt(read.unwrap_err()).part, Part::Inode, "{word:#x}");
    }
}

#[test]
fn directory_loops_and_second_parents_end_the_walk() {
    for (from, to) in [(3, 0), (3, 1), (3, 3), (0, 0)] {
        let handmade = changed(|nodes| nodes[from].entries = vec![(b"x".to_vec(), to)]);
        let image = open(&handmade.bytes).unwrap();
        assert_eq!(
            corrupt(walk_all(&image).unwrap_err()).rule,
            Rule::Loop,
            "{from} {to}"
        );
        assert!(!problems(&image).is_empty(), "{from} {to}");
    }
    let second = changed(|nodes| nodes[0].entries.push((b"zub".to_vec(), 3)));
    let image = open(&second.bytes).unwrap();
    assert_eq!(corrupt(walk_all(&image).unwrap_err()).rule, Rule::Loop);
    let texts = problems(&image).join("\n");
    assert!(texts.contains("`/zub`: inode at byte"), "{texts}");
}

#[test]
fn illegal_double_and_unsorted_names_are_refused() {
    for names in [
        [&b"a"[..], b"a"],
        [b"b", b"a"],
        [b".", b"x"],
        [b"..", b"x"],
        [b"a/b", b"x"],
        [b"a", b"b\0c"],
        [b"/", b"x"],
    ] {
        let handmade = changed(|nodes| {
            nodes[1].entries = vec![(names[0].to_vec(), 2), (names[1].to_vec(), 3)];
        });
        let image = open(&handmade.bytes).unwrap();
        let error = corrupt(walk_all(&image).unwrap_err());
        assert_eq!(error.part, Part::DirectoryEntry, "{names:?}");
        assert!(!problems(&image).is_empty());
    }
}

#[test]
fn a_name_longer_than_its_listing_is_refused() {
    let handmade = handmade::image(false);
    // The first entry's name size stands 6 bytes behind the run's header.
    let image = open(&patched(handmade.listing_at + 12 + 6, &[0xff, 0xff])).unwrap();
    assert!(matches!(
        corrupt(walk_all(&image).unwrap_err()).rule,
        Rule::Truncated { .. }
    ));
    let image = open(&patched(handmade.listing_at, &[0xff])).unwrap();
    assert!(matches!(
        corrupt(walk_all(&image).unwrap_err()).rule,
        Rule::Truncated { .. }
    ));
}
