//! Exact bytes of each record: `write` gives them, `parse` gives the record back.

use coldpress_format::{
    BlockSize, BlockWord, Body, Compressor, CompressorOptions, DeviceNumber, Directory, Entry,
    File, Fragment, IndexEntry, Inode, InodeKind, InodeRef, MetadataHeader, RawXattrKey,
    RawXattrValue, Superblock, TailEnd, XattrId, XattrPrefix, XattrTable, parse_listing,
    write_listing,
};
use zerocopy::{FromBytes, IntoBytes};

use crate::samples::{START, inode, read_inode, superblock, written};

/// The bytes that hexadecimal digits spell; spaces and line ends are there for the reader.
fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    let byte = |pair: &[u32]| u8::try_from(pair[0] << 4 | pair[1]).expect("two digits");
    digits.chunks_exact(2).map(byte).collect()
}

#[test]
fn superblock_bytes() {
    let golden = bytes(
        "68737173 11000000 00214365 00000200 03000000 0600 1100 c000 0200 0400 0000
         f01f0400 02000000 00900000 00000000 00850000 00000000 008f0000 00000000
         00500000 00000000 00600000 00000000 00700000 00000000 00800000 00000000",
    );
    assert_eq!(superblock().write(), *golden);
    assert_eq!(Superblock::parse(&golden), Ok(superblock()));
}

#[test]
fn an_absent_table_is_all_ones() {
    let absent = Superblock {
        fragment_count: 0,
        xattr_table_start: None,
        fragment_table_start: None,
        export_table_start: None,
        ..superblock()
    };
    let written = absent.write();
    for at in [56, 80, 88] {
        assert_eq!(written[at..at + 8], [0xff; 8], "byte {at}");
    }
    assert_eq!(Superblock::parse(&written), Ok(absent));
}

#[test]
fn compressor_options_bytes() {
    let gzip = CompressorOptions::Gzip {
        level: 9,
        window_size: 15,
        strategies: 0b11,
    };
    let lzo = CompressorOptions::Lzo {
        algorithm: 4,
        level: 8,
    };
    let xz = CompressorOptions::Xz {
        dictionary_size: 3 << 16,
        filters: 1,
    };
    let lz4 = CompressorOptions::Lz4 {
        high_compression: true,
    };
    let zstd = CompressorOptions::Zstd { level: 15 };
    for (compressor, options, golden) in [
        (Compressor::Gzip, gzip, "09000000 0f00 0300"),
        (Compressor::Lzo, lzo, "04000000 08000000"),
        (Compressor::Xz, xz, "00000300 01000000"),
        (Compressor::Lz4, lz4, "01000000 01000000"),
        (Compressor::Zstd, zstd, "0f000000"),
    ] {
        assert_eq!(options.write(), bytes(golden), "{compressor}");
        let parsed = CompressorOptions::parse(compressor, &bytes(golden), 96);
        assert_eq!(parsed, Ok(options), "{compressor}");
    }
}

#[test]
fn metadata_header_bytes() {
    for (size_bytes, compressed, golden) in [(8192, false, "00a0"), (0x123, true, "2301")] {
        let header = MetadataHeader {
            size_bytes,
            compressed,
        };
        assert_eq!(header.write(), *bytes(golden));
        assert_eq!(MetadataHeader::parse(header.write(), 0), Ok(header));
    }
}

const HEADER: &str = "ed01 0100 0200 00214365 07000000";

/// The bytes of an inode are its type, the header and `rest`.
fn check_inode(inode: &Inode, kind: &str, rest: &str) {
    let golden = bytes(&format!("{kind} {HEADER} {rest}"));
    assert_eq!(written(inode), golden, "{inode:?}");
    let parsed = read_inode(&golden, BlockSize::DEFAULT);
    assert_eq!(parsed, Ok((inode.clone(), &[][..])));
}

#[test]
fn directory_inode_bytes() {
    let mut directory = Directory {
        block_start: 0x2003,
        offset: 0x1abc,
        listing_bytes: 0x40,
        parent: 6,
        index: Vec::new(),
    };
    let basic = inode(Body::Directory(directory.clone()), None);
    check_inode(&basic, "0100", "03200000 01000000 4300 bc1a 06000000");
    let with_xattrs = inode(Body::Directory(directory.clone()), Some(5));
    check_inode(
        &with_xattrs,
        "0800",
        "01000000 43000000 03200000 06000000 0000 bc1a 05000000",
    );
    directory.index.push(IndexEntry {
        listing_offset: 0x544,
        block_start: 0x3000,
        name: b"mid".to_vec(),
    });
    check_inode(
        &inode(Body::Directory(directory), None),
        "0800",
        "01000000 43000000 03200000 06000000 0100 bc1a ffffffff
         44050000 00300000 02000000 6d6964",
    );
}

#[test]
fn file_inode_bytes() {
    let tail = TailEnd {
        fragment: 2,
        offset: 0x321,
    };
    let mut file = File {
        start: 0x60,
        size_bytes: 0x2_0005,
        sparse_bytes: 0,
        tail: Some(tail),
        blocks: vec![BlockWord::new(0x1_0000, true)],
    };
    let basic = inode(Body::File(file.clone()), None);
    let list = "00000100";
    check_inode(
        &basic,
        "0200",
        &format!("60000000 02000000 21030000 05000200 {list}"),
    );
    let linked = Inode {
        link_count: 2,
        ..basic
    };
    check_inode(
        &linked,
        "0900",
        &format!(
            "6000000000000000 0500020000000000 0000000000000000
             02000000 02000000 21030000 ffffffff {list}"
        ),
    );
    file.tail = None;
    file.sparse_bytes = 0x2_0000;
    file.start = 1 << 32;
    file.blocks = vec![BlockWord::SPARSE, BlockWord::new(5, false)];
    check_inode(
        &inode(Body::File(file), Some(4)),
        "0900",
        "0000000001000000 0500020000000000 0000020000000000
         01000000 ffffffff 00000000 04000000 00000000 05000001",
    );
}

#[test]
fn symlink_inode_bytes() {
    let body = Body::Symlink(b"a/b".to_vec());
    check_inode(
        &inode(body.clone(), None),
        "0300",
        "01000000 03000000 612f62",
    );
    let rest = "01000000 03000000 612f62 09000000";
    check_inode(&inode(body, Some(9)), "0a00", rest);
}

#[test]
fn device_and_ipc_inode_bytes() {
    let number = DeviceNumber {
        major: 0x123,
        minor: 0x4_5678,
    };
    let device = "01000000 78236145";
    let link = "01000000";
    for (body, basic, extended, rest) in [
        (Body::BlockDevice(number), "0400", "0b00", device),
        (Body::CharDevice(number), "0500", "0c00", device),
        (Body::Fifo, "0600", "0d00", link),
        (Body::Socket, "0700", "0e00", link),
    ] {
        // 0x456 of the minor number stand in bits 20 to 31, 0x78 in bits 0 to 7.
        check_inode(&inode(body.clone(), None), basic, rest);
        let with_xattrs = inode(body, Some(3));
        check_inode(&with_xattrs, extended, &format!("{rest} 03000000"));
    }
}

#[test]
fn listing_bytes() {
    let entry = |name: &str, number, kind| Entry {
        name: name.into(),
        inode: InodeRef {
            block_start: 0x2004,
            offset: 0x10,
        },
        number,
        kind,
    };
    let entries = [
        entry("bin", 5, InodeKind::Directory),
        entry("x", 3, InodeKind::Symlink),
    ];
    let golden = bytes(
        "01000000 04200000 05000000
         1000 0000 0100 0200 62696e
         1000 feff 0300 0000 78",
    );
    assert_eq!(write_listing(&entries, 0).bytes, golden);
    assert_eq!(parse_listing(&golden, START), Ok(entries.to_vec()));
}

#[test]
fn fragment_bytes() {
    let golden = bytes("00001000 00000000 00800001 00000000");
    let fragment = Fragment {
        start: 0x10_0000,
        size: BlockWord::new(0x8000, false),
    };
    assert_eq!(fragment.write(), *golden);
    let parsed = Fragment::parse(&golden, BlockSize::DEFAULT, START);
    assert_eq!(parsed, Ok(fragment));
}

#[test]
fn xattr_bytes() {
    let key = RawXattrKey {
        kind: (XattrPrefix::Security as u16 | XattrPrefix::OUT_OF_LINE).into(),
        name_size: 10.into(),
    };
    assert_eq!(key.as_bytes(), bytes("0201 0a00"));
    let value = RawXattrValue::read_from_bytes(&bytes("14000000")).expect("four bytes");
    assert_eq!(value.value_size.get(), 20);

    let id = XattrId {
        pairs: 0x3000_0012,
        count: 2,
        size_bytes: 0x30,
    };
    let golden = bytes("12000030 00000000 02000000 30000000");
    assert_eq!(id.write(), *golden);
    assert_eq!(XattrId::parse(&golden, START), Ok(id));

    let table = XattrTable {
        pairs_start: 0x1000,
        count: 3,
    };
    let golden = bytes("00100000 00000000 03000000 00000000");
    assert_eq!(table.write(), *golden);
    assert_eq!(XattrTable::parse(&golden, START), Ok(table));
}
