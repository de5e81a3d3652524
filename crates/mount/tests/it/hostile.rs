//! Hostile images: whatever is asked of them, there is an answer or a failure, soon.

use coldpress_format::InodeKind;
use coldpress_image::Image;
use coldpress_mount::{Attributes, Failure, FileSystem, Name, NodeId};
use coldpress_nasty::{Case, Packing, Tables, WRITABLE, defects, sample};

use crate::tree::{OPTIONS, mounted};

/// Inodes that are visited of one image, and names that are looked up in one directory.
const VISITS: usize = 300;
const NAMES: usize = 100;

/// Asks everything of everything.
fn explore(file_system: &FileSystem) {
    let mut pending = vec![NodeId::ROOT];
    let mut visits = 0;
    while let Some(node) = pending.pop() {
        visits += 1;
        if visits > VISITS {
            return;
        }
        let Ok(attributes) = file_system.attributes(node) else {
            continue;
        };
        let _ = file_system.target(node);
        if let Ok(names) = file_system.xattr_names(node, true) {
            for name in names.split(|byte| *byte == 0) {
                let _ = file_system.xattr(node, name);
            }
        }
        read(file_system, &attributes);
        let Ok(directory) = file_system.directory(node) else {
            continue;
        };
        for (name, _) in directory.names_from(0).take(NAMES) {
            if let Name::Stored { name, index, .. } = name {
                let _ = file_system.shown(&directory, index);
                let found = file_system.lookup(node, name);
                pending.extend(found.map(|found| found.node).ok());
            }
        }
    }
    let _ = file_system.volume();
}

fn read(file_system: &FileSystem, attributes: &Attributes) {
    let size_bytes = attributes.size_bytes;
    for offset in [
        0,
        3000,
        4096,
        size_bytes / 2,
        size_bytes.saturating_sub(10),
        u64::MAX,
    ] {
        let read = file_system.read(attributes.node, offset, 128 << 10);
        if attributes.kind != InodeKind::File {
            assert!(read.is_err());
        } else if let Ok(content) = read {
            let left = size_bytes.saturating_sub(offset).min(128 << 10);
            assert_eq!(content.bytes().len() as u64, left, "{offset}");
        }
    }
}

fn explored(bytes: &[u8]) {
    let Ok(image) = Image::new(Box::new(bytes.to_vec())) else {
        return;
    };
    if image.root().is_ok() {
        explore(&mounted(image, OPTIONS).0);
    }
}

#[test]
fn published_defects_do_no_harm() {
    let all: [fn() -> Vec<Case>; 28] = [
        defects::endless_files,
        defects::metadata_bombs,
        defects::compressor_numbers,
        defects::compressor_options,
        defects::streams_that_want_memory,
        defects::block_words,
        defects::content_bombs,
        defects::overlapping_blocks,
        defects::tail_ends,
        defects::file_sizes,
        defects::inode_numbers,
        defects::modes_and_types,
        defects::owners,
        defects::parents,
        defects::targets,
        defects::loops,
        defects::directory_indexes,
        defects::listing_places,
        defects::listing_sizes,
        defects::run_counts,
        defects::name_sizes,
        defects::names,
        defects::one_name_twice,
        defects::positions,
        defects::truncations,
        defects::fragment_tables,
        defects::xattr_indexes,
        defects::xattr_pairs,
    ];
    for cases in all {
        for case in cases() {
            explored(&case.bytes);
        }
    }
    explored(&defects::large_listings(20, 2000).bytes);
    explored(&defects::nested_directories(1000).bytes);
}

/// What a defect does to the numbers that programs see.
#[test]
fn inodes_have_numbers_of_their_own_whatever_the_image_says() {
    for case in defects::inode_numbers() {
        let Ok(image) = Image::new(Box::new(case.bytes)) else {
            continue;
        };
        let Ok(_) = image.root() else {
            continue;
        };
        let (file_system, _) = mounted(image, OPTIONS);
        let Ok(directory) = file_system.directory(NodeId::ROOT) else {
            continue;
        };
        let found: Vec<_> = (0..5)
            .filter_map(|index| file_system.learn(&directory, index).ok())
            .collect();
        for (index, one) in found.iter().enumerate() {
            assert_ne!(one.node, NodeId::ROOT, "{}", case.what);
            assert_eq!(file_system.attributes(one.node), Ok(*one), "{}", case.what);
            let is_same = |other: &&Attributes| other.node == one.node;
            assert_eq!(found[..index].iter().find(is_same), None, "{}", case.what);
        }
    }
}

#[test]
fn a_flipped_bit_anywhere_does_no_harm() {
    let explore_all = |packing| {
        let sound = Tables::new(&sample(packing)).write();
        let used = usize::try_from(sound.superblock.bytes_used).unwrap();
        for at in 0..used {
            let mut bytes = sound.bytes.clone();
            bytes[at] ^= 1 << (at % 8);
            explored(&bytes);
        }
    };
    std::thread::scope(|scope| {
        for packing in WRITABLE.map(Packing::compressed) {
            scope.spawn(move || explore_all(packing));
        }
        explore_all(Packing::STORED);
    });
}

#[test]
fn each_inode_that_cannot_be_read_is_told_once() {
    // Every inode behind the root is damaged.
    let image = coldpress_nasty::image(false);
    let at = image.inode_at[1];
    let bytes = image.with(at, &vec![0xff; image.inode_at[7] + 8 - at]);
    let (file_system, told) = mounted(crate::tree::open(&bytes), OPTIONS);
    for _ in 0..1000 {
        for name in [&b"dir"[..], b"fifo", b"link", b"sparse", b"tail"] {
            let found = file_system.lookup(NodeId::ROOT, name);
            assert_eq!(found.unwrap_err(), Failure::Damaged);
        }
    }
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 5, "{told:?}");
    assert!(
        told[0].starts_with("`/dir` (inode 2): inode "),
        "{}",
        told[0]
    );
}
