//! Compressor options, references, tables and listings with a broken field.

use coldpress_format::{
    BlockSize, BlockWord, Compressor, CompressorOptions, Fragment, IndexEntry, InodeRef,
    MetadataHeader, Part, XattrId, XattrTable, parse_listing,
};

use super::{message, put};
use crate::samples::START;

const SIZE: BlockSize = BlockSize::MIN;

#[test]
fn compressor_options_are_checked() {
    for (compressor, words, expected) in [
        (Compressor::Gzip, [0, 15], "gzip level is 0, must be 1 to 9"),
        (
            Compressor::Gzip,
            [10, 15],
            "gzip level is 10, must be 1 to 9",
        ),
        (
            Compressor::Gzip,
            [9, 7],
            "gzip window size is 7, must be 8 to 15",
        ),
        (
            Compressor::Gzip,
            [9, 16],
            "gzip window size is 16, must be 8 to 15",
        ),
        (
            Compressor::Lzo,
            [5, 0],
            "lzo algorithm is 5, must be 0 to 4",
        ),
        (Compressor::Lzo, [4, 10], "lzo level is 10, must be 0 to 9"),
        (Compressor::Lz4, [2, 0], "lz4 version is 2, must be 1 to 1"),
        (Compressor::Lzma, [0, 0], "compressor 2 is not supported"),
        (
            Compressor::Xz,
            [4096, 0],
            "xz dictionary size is 4096, must be 8192 to 1048576",
        ),
        (
            Compressor::Xz,
            [8192 * 5, 0],
            "xz dictionary size (2^n or 2^n + 2^(n+1)) is 40960, must be 8192 to 1048576",
        ),
    ] {
        let bytes = words.map(u32::to_le_bytes);
        let found = message(CompressorOptions::parse(
            compressor,
            bytes.as_flattened(),
            96,
        ));
        assert_eq!(found, format!("compressor options at byte 96: {expected}"));
    }
}

#[test]
fn compressor_options_cut_short_are_reported_with_their_length() {
    for (compressor, needed) in [
        (Compressor::Gzip, 8),
        (Compressor::Lzo, 8),
        (Compressor::Xz, 8),
        (Compressor::Lz4, 8),
        (Compressor::Zstd, 4),
    ] {
        let found = message(CompressorOptions::parse(compressor, &[1, 0, 0], 96));
        let expected = format!("needs {needed} bytes, 3 are there");
        assert_eq!(found, format!("compressor options at byte 96: {expected}"));
    }
}

#[test]
fn a_zstd_level_is_not_checked() {
    // Newer mksquashfs records negative levels.
    let parsed = CompressorOptions::parse(Compressor::Zstd, &(-5_i32).to_le_bytes(), 96);
    assert!(parsed.is_ok());
}

#[test]
fn size_words_and_references_are_checked() {
    let word = |word| message(BlockWord::parse(word, SIZE, Part::DataBlock, START));
    let header = |bytes| message(MetadataHeader::parse(bytes, START));
    let reference = |word| message(InodeRef::parse(word, Part::ExportTable, START));
    let size = "data block at byte 4660: block size on disk is";
    let metadata = "metadata block at byte 4660: size is";
    let export = "export table at byte 4660: inode";
    for (found, expected) in [
        (word(1 << 25), format!("{size} 33554432, must be 0 to 4096")),
        (word(4097), format!("{size} 4097, must be 0 to 4096")),
        (word(1 << 24), format!("{size} 0, must be 1 to 4096")),
        (header([0, 0]), format!("{metadata} 0, must be 1 to 8192")),
        (
            header([0, 0x80]),
            format!("{metadata} 0, must be 1 to 8192"),
        ),
        (
            header([1, 0xa0]),
            format!("{metadata} 8193, must be 1 to 8192"),
        ),
        (
            reference(0xffff),
            format!("{export} offset is 65535, must be 0 to 8191"),
        ),
        (
            reference(1 << 48),
            format!("{export} block start is 4294967296, must be 0 to 4294967295"),
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn fragments_are_checked() {
    for (word, expected) in [
        (0, "fragment block size is 0, must be 1 to 4096"),
        (1 << 24, "block size on disk is 0, must be 1 to 4096"),
        (4097, "block size on disk is 4097, must be 0 to 4096"),
    ] {
        let mut bytes = [0; Fragment::SIZE];
        put(&mut bytes, 8, &u32::to_le_bytes(word));
        let found = message(Fragment::parse(&bytes, SIZE, START));
        assert_eq!(found, format!("fragment table at byte 4660: {expected}"));
    }
    let found = message(Fragment::parse(&[0; 15], SIZE, START));
    assert_eq!(
        found,
        "fragment table at byte 4660: needs 16 bytes, 15 are there"
    );
}

#[test]
fn xattr_tables_are_checked() {
    let table = |pairs_start, count| {
        let table = XattrTable { pairs_start, count };
        message(XattrTable::parse(&table.write(), START))
    };
    let empty = XattrId {
        pairs: 0,
        count: 0,
        size_bytes: 0,
    };
    for (found, expected) in [
        (table(96, 1), "no error"),
        (table(96, 0), "xattr id count is 0, must be 1 to 4294967295"),
        (table(95, 1), "xattr pairs start is 95, must be 96 to 4659"),
        (
            table(START, 1),
            "xattr pairs start is 4660, must be 96 to 4659",
        ),
        (
            message(XattrTable::parse(&[0; 15], START)),
            "needs 16 bytes, 15 are there",
        ),
        (
            message(XattrId::parse(&empty.write(), START)),
            "xattr count is 0, must be 1 to 4294967295",
        ),
        (
            message(XattrId::parse(&[0; 15], START)),
            "needs 16 bytes, 15 are there",
        ),
    ] {
        let found = found.trim_start_matches("xattr table at byte 4660: ");
        assert_eq!(found, expected);
    }
}

/// A listing of one entry with these low bytes of its fields.
fn one_entry(count: u8, inode_offset_high: u8, kind: u8, name_size: u8) -> Vec<u8> {
    let mut bytes = vec![0; 20];
    (bytes[0], bytes[13], bytes[16], bytes[18]) = (count, inode_offset_high, kind, name_size);
    bytes.push(b'x');
    bytes
}

#[test]
fn listings_are_checked() {
    for (bytes, expected) in [
        (one_entry(0, 0, 1, 0), "no error"),
        (
            one_entry(1, 0, 1, 0),
            "directory entry at byte 4660: needs 8 bytes, 0 are there",
        ),
        (
            one_entry(0, 0, 1, 9),
            "directory entry at byte 4660: needs 10 bytes, 1 are there",
        ),
        (
            one_entry(0, 0, 0, 0),
            "directory entry at byte 4660: type is 0, must be 1 to 7",
        ),
        (
            one_entry(0, 0, 8, 0),
            "directory entry at byte 4660: type is 8, must be 1 to 7",
        ),
        (
            one_entry(0, 0x20, 1, 0),
            "directory entry at byte 4660: inode offset is 8192, must be 0 to 8191",
        ),
        (
            vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "directory header at byte 4660: entry count less 1 is 256, must be 0 to 255",
        ),
        (
            vec![0; 5],
            "directory header at byte 4660: needs 12 bytes, 5 are there",
        ),
        (
            [one_entry(0, 0, 1, 0), one_entry(0, 0, 1, 0)].concat(),
            "directory entry at byte 4660: a name does not sort after the one before it",
        ),
    ] {
        assert_eq!(message(parse_listing(&bytes, START)), expected);
    }
}

#[test]
fn illegal_names_are_refused() {
    let long = [b'x'; 257];
    let names: [&[u8]; 6] = [b".", b"..", b"/", b"a/b", b"a\0", &long];
    for name in names {
        let mut bytes = one_entry(0, 0, 1, 0);
        let size = u16::try_from(name.len() - 1).expect("a short name");
        put(&mut bytes, 18, &size.to_le_bytes());
        bytes.truncate(20);
        bytes.extend_from_slice(name);
        assert_eq!(
            message(parse_listing(&bytes, START)),
            "directory entry at byte 4660: a name is empty, over 256 bytes, `.`, `..`, \
             or holds `/` or a zero byte"
        );
    }
}

#[test]
fn a_long_name_in_a_directory_index_is_refused() {
    let bytes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0];
    assert_eq!(
        message(IndexEntry::parse_fixed(&bytes, START)),
        "directory index at byte 4660: name size is 256, must be 0 to 255"
    );
}
