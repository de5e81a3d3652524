//! Inodes with a broken field or cut short.

use std::mem::offset_of;

use coldpress_format::{
    BlockSize, BlockWord, Body, Directory, File, IndexEntry, RawExtendedDirectory, RawExtendedFile,
    RawFile, RawInodeHeader, RawSymlink,
};

use super::{message, put};
use crate::samples::{inode, read_inode, written};

#[test]
fn inode_fields_are_checked() {
    let header = size_of::<RawInodeHeader>();
    let directory = inode(Body::Directory(Directory::default()), Some(1));
    let file = inode(Body::File(File::default()), Some(1));
    let symlink = inode(Body::Symlink(b"x".to_vec()), None);
    for (inode, at, value, expected) in [
        (&file, 0, vec![0, 0], "inode type is 0, must be 1 to 14"),
        (&file, 0, vec![15, 0], "inode type is 15, must be 1 to 14"),
        (
            &file,
            offset_of!(RawInodeHeader, number),
            vec![0; 4],
            "inode number is 0, must be 1 to 4294967295",
        ),
        (
            &directory,
            header + offset_of!(RawExtendedDirectory, size),
            vec![2, 0, 0, 0],
            "directory size is 2, must be 3 to 4294967295",
        ),
        (
            &directory,
            header + offset_of!(RawExtendedDirectory, offset),
            vec![0, 0x20],
            "listing offset is 8192, must be 0 to 8191",
        ),
        (
            &file,
            header + offset_of!(RawExtendedFile, size),
            vec![0xff; 8],
            "file size is 18446744073709551615, must be 0 to 9223372036854775807",
        ),
        (
            &file,
            header + offset_of!(RawExtendedFile, start),
            vec![0xff; 8],
            "data start is 18446744073709551615, must be 0 to 9223372036854775807",
        ),
        (
            &symlink,
            header + offset_of!(RawSymlink, target_size),
            vec![0; 4],
            "symlink target size is 0, must be 1 to 65535",
        ),
        (
            &symlink,
            header + offset_of!(RawSymlink, target_size),
            vec![0, 0, 1, 0],
            "symlink target size is 65536, must be 1 to 65535",
        ),
        (
            &symlink,
            header + size_of::<RawSymlink>(),
            vec![0],
            "a symlink target holds a zero byte",
        ),
    ] {
        let mut bytes = written(inode);
        put(&mut bytes, at, &value);
        let found = message(read_inode(&bytes, BlockSize::DEFAULT));
        assert_eq!(found, format!("inode at byte 4660: {expected}"));
    }
}

#[test]
fn a_block_count_follows_from_the_length_and_the_tail() {
    let at = |field| size_of::<RawInodeHeader>() + field;
    let empty = written(&inode(Body::File(File::default()), None));
    for (size, fragment, words) in [
        (0, u32::MAX, 0),
        (4096, u32::MAX, 1),
        (4097, u32::MAX, 2),
        (4097, 0, 1),
        (u32::MAX, u32::MAX, 1 << 20),
        (u32::MAX, 0, (1 << 20) - 1),
    ] {
        let mut bytes = empty.clone();
        put(
            &mut bytes,
            at(offset_of!(RawFile, size)),
            &u32::to_le_bytes(size),
        );
        put(
            &mut bytes,
            at(offset_of!(RawFile, fragment)),
            &fragment.to_le_bytes(),
        );
        let found = message(read_inode(&bytes, BlockSize::MIN));
        let expected = if words == 0 {
            "no error".to_owned()
        } else {
            format!("inode at byte 4660: needs {} bytes, 0 are there", words * 4)
        };
        assert_eq!(found, expected, "{size} bytes, fragment {fragment}");
    }
}

#[test]
fn an_inode_cut_anywhere_is_truncated() {
    let blocks = vec![BlockWord::new(9, true)];
    let file = File {
        size_bytes: 5,
        blocks,
        ..File::default()
    };
    let index = vec![IndexEntry {
        listing_offset: 1,
        block_start: 2,
        name: b"name".to_vec(),
    }];
    let directory = Directory {
        index,
        ..Directory::default()
    };
    for body in [
        Body::File(file),
        Body::Directory(directory),
        Body::Symlink(b"target".to_vec()),
        Body::Fifo,
    ] {
        for xattr in [None, Some(3)] {
            let bytes = written(&inode(body.clone(), xattr));
            for len in 0..bytes.len() {
                let found = message(read_inode(&bytes[..len], BlockSize::DEFAULT));
                assert!(
                    found.contains("are there"),
                    "{body:?} cut to {len}: {found}"
                );
            }
        }
    }
}

#[test]
fn mode_bits_beyond_twelve_are_neither_read_nor_written() {
    let mut fifo = inode(Body::Fifo, None);
    fifo.mode = 0o10_4755;
    let bytes = written(&fifo);
    assert_eq!(bytes[2..4], 0o4755_u16.to_le_bytes());
    let mut with_type = bytes.clone();
    put(&mut with_type, 2, &0o10_4755_u16.to_le_bytes());
    let (read, _) = read_inode(&with_type, BlockSize::MIN).expect("it is legal");
    assert_eq!(read.mode, 0o4755);
}
