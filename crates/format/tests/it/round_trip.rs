//! Random inodes and listings come back as they were written.

use std::collections::BTreeMap;

use coldpress_format::{
    BlockSize, BlockWord, Body, DeviceNumber, Directory, Entry, File, IndexEntry, Inode, InodeKind,
    InodeRef, NAME_MAX_BYTES, TailEnd, is_legal_name, listing_spans, parse_listing, write_listing,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use crate::samples::{START, read_inode, written};

const BLOCK_SIZE: BlockSize = BlockSize::MIN;

fn name() -> impl Strategy<Value = Vec<u8>> {
    let bytes = vec(any::<u8>(), 1..=40);
    let long = vec(1_u8..=255, NAME_MAX_BYTES);
    prop_oneof![20 => bytes, 1 => long].prop_filter("a legal name", |name| is_legal_name(name))
}

fn directory() -> impl Strategy<Value = Body> {
    let index_entry = (any::<u32>(), any::<u32>(), name());
    let index = vec(index_entry, 0..4).prop_map(|entries| {
        let entry = |(listing_offset, block_start, name)| IndexEntry {
            listing_offset,
            block_start,
            name,
        };
        entries.into_iter().map(entry).collect()
    });
    let listing_bytes = prop_oneof![0..70_000_u32, 65_530..65_540_u32, 0..=u32::MAX - 3];
    let fields = (
        any::<u32>(),
        0..8192_u16,
        listing_bytes,
        any::<u32>(),
        index,
    );
    fields.prop_map(|(block_start, offset, listing_bytes, parent, index)| {
        Body::Directory(Directory {
            block_start,
            offset,
            listing_bytes,
            parent,
            index,
        })
    })
}

fn block_word() -> impl Strategy<Value = BlockWord> {
    let stored = (1..=BLOCK_SIZE.bytes(), any::<bool>());
    prop_oneof![
        1 => Just(BlockWord::SPARSE),
        3 => stored.prop_map(|(size, compressed)| BlockWord::new(size, compressed)),
    ]
}

fn file() -> impl Strategy<Value = Body> {
    let tail = (0..u32::MAX, any::<u32>());
    let tail = option::of(tail.prop_map(|(fragment, offset)| TailEnd { fragment, offset }));
    let start = prop_oneof![0..=u64::from(u32::MAX) + 1, 0..=i64::MAX.unsigned_abs()];
    let fields = (
        start,
        0_u64..40_000,
        prop_oneof![Just(0), any::<u64>()],
        tail,
    );
    fields.prop_flat_map(|(start, size_bytes, sparse_bytes, tail)| {
        let short = tail.is_none() && BLOCK_SIZE.tail_bytes(size_bytes) > 0;
        let count = BLOCK_SIZE.full_blocks(size_bytes) + u64::from(short);
        let count = usize::try_from(count).expect("a few blocks");
        vec(block_word(), count).prop_map(move |blocks| {
            Body::File(File {
                start,
                size_bytes,
                sparse_bytes,
                tail,
                blocks,
            })
        })
    })
}

fn body() -> impl Strategy<Value = Body> {
    let device = || (0..1_u32 << 12, 0..1_u32 << 20);
    let number = |(major, minor)| DeviceNumber { major, minor };
    prop_oneof![
        directory(),
        file(),
        vec(1_u8..=255, 1..300).prop_map(Body::Symlink),
        device().prop_map(move |parts| Body::BlockDevice(number(parts))),
        device().prop_map(move |parts| Body::CharDevice(number(parts))),
        Just(Body::Fifo),
        Just(Body::Socket),
    ]
}

prop_compose! {
    fn inode()(
        mode in 0_u16..=0o7777,
        uid_index: u16,
        gid_index: u16,
        mtime_s: u32,
        number in 1..=u32::MAX,
        link_count in prop_oneof![Just(1), 1..=u32::MAX],
        xattr in option::of(0..u32::MAX),
        body in body(),
    ) -> Inode {
        Inode { mode, uid_index, gid_index, mtime_s, number, link_count, xattr, body }
    }
}

/// Whether docs/format.md, "Inodes", asks for the extended form.
fn must_be_extended(inode: &Inode) -> bool {
    let by_values = match &inode.body {
        Body::Directory(directory) => {
            directory.listing_bytes > 65_532 || !directory.index.is_empty()
        }
        Body::File(file) => {
            inode.link_count != 1
                || file.sparse_bytes != 0
                || file.start >= 1 << 32
                || file.size_bytes >= 1 << 32
        }
        _ => false,
    };
    by_values || inode.xattr.is_some()
}

/// Names in order, with inodes in a few metadata blocks.
fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let place = (0..3_u32, 0..8192_u16);
    let number = prop_oneof![1..1000_u32, any::<u32>()];
    let entry = (place, number, 0..InodeKind::ALL.len());
    btree_map(name(), entry, 0..600).prop_map(|entries: BTreeMap<_, _>| {
        let entry = |(name, ((block, offset), number, kind))| Entry {
            name,
            inode: InodeRef {
                block_start: block * 3000,
                offset,
            },
            number,
            kind: InodeKind::ALL[kind],
        };
        entries.into_iter().map(entry).collect()
    })
}

proptest! {
    #[test]
    fn an_inode_comes_back_in_the_documented_form(inode in inode()) {
        let bytes = written(&inode);
        let extended = bytes[0] > 7;
        let list_bytes = match &inode.body {
            Body::File(file) => 4 * file.blocks.len(),
            _ => 0,
        };
        prop_assert_eq!(inode.fixed_bytes(), (bytes.len() - list_bytes) as u64);
        prop_assert_eq!(extended, must_be_extended(&inode));
        let behind = [bytes.as_slice(), &[0xaa; 3]].concat();
        let (read, rest) = read_inode(&behind, BLOCK_SIZE).expect("it was written");
        prop_assert_eq!(read, inode);
        prop_assert_eq!(rest, [0xaa; 3]);
    }

    #[test]
    fn a_listing_comes_back_wherever_it_begins(
        entries in entries(),
        stream_offset in 0_u64..20_000,
    ) {
        let listing = write_listing(&entries, stream_offset);
        let read = parse_listing(&listing.bytes, START);
        prop_assert_eq!(read.as_ref(), Ok(&entries));
        for (at, first) in &listing.marks {
            // A reader that starts at a mark sees the entries from there on.
            let tail = &listing.bytes[usize::try_from(*at).expect("it is in memory")..];
            prop_assert_eq!(parse_listing(tail, START), Ok(entries[*first..].to_vec()));
        }
        let spans = listing_spans(entries.iter().map(Entry::borrow), stream_offset);
        let ends: Vec<_> = spans.map(|span| span.end - stream_offset).collect();
        for (entry, end) in entries.iter().zip(&ends) {
            // Behind its name, at the latest the next header begins.
            let end = usize::try_from(*end).expect("it is in memory");
            prop_assert!(listing.bytes[..end].ends_with(&entry.name));
        }
        prop_assert_eq!(ends.last().copied().unwrap_or(0), listing.bytes.len() as u64);
        let block = |at: u32| (stream_offset + u64::from(at)) / 8192;
        let marked: Vec<_> = listing.marks.iter().map(|(at, _)| block(*at)).collect();
        prop_assert!(marked.is_sorted_by(|before, after| before < after));
        prop_assert!(marked.first().is_none_or(|first| *first > block(0)));
    }
}

#[test]
fn a_listing_over_several_metadata_blocks_can_be_entered_in_each() {
    let entries: Vec<_> = (0..2000)
        .map(|nth| Entry {
            name: format!("name-{nth:04}").into_bytes(),
            inode: InodeRef {
                block_start: 0,
                offset: 0,
            },
            number: nth + 1,
            kind: InodeKind::File,
        })
        .collect();
    let listing = write_listing(&entries, 8000);
    let blocks = (8000 + listing.bytes.len()) / 8192;
    assert_eq!(listing.marks.len(), blocks);
    for (at, first) in listing.marks {
        let tail = &listing.bytes[usize::try_from(at).expect("it is in memory")..];
        assert_eq!(parse_listing(tail, START), Ok(entries[first..].to_vec()));
    }
}
