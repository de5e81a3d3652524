//! Random bytes give a value or an error, never a panic.

use coldpress_format::{
    BlockSize, BlockWord, Compressor, CompressorOptions, DeviceNumber, Fragment, IndexEntry,
    InodeRef, MetadataHeader, Part, Superblock, XattrId, XattrPrefix, XattrTable, is_legal_name,
    parse_listing,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::samples::{START, read_inode, superblock, written};

/// A byte string with a few of its bytes replaced.
fn mutated(bytes: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    vec((any::<prop::sample::Index>(), any::<u8>()), 1..6).prop_map(move |changes| {
        let mut bytes = bytes.clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes
    })
}

proptest! {
    #[test]
    fn a_superblock_of_random_bytes_does_not_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = Superblock::parse(&bytes);
    }

    #[test]
    fn what_is_left_of_a_damaged_superblock_is_written_as_it_was_read(
        bytes in mutated(superblock().write().to_vec()),
    ) {
        if let Ok(parsed) = Superblock::parse(&bytes) {
            prop_assert_eq!(parsed.write().to_vec(), bytes);
        }
    }

    #[test]
    fn compressor_options_of_random_bytes_do_not_panic(
        bytes in vec(any::<u8>(), 0..20),
        number in 0_usize..6,
    ) {
        let compressor = Compressor::ALL[number];
        if let Ok(options) = CompressorOptions::parse(compressor, &bytes, START) {
            // Unknown flags of lz4 are dropped.
            let again = CompressorOptions::parse(compressor, &options.write(), START);
            prop_assert_eq!(again, Ok(options));
        }
    }

    #[test]
    fn words_of_random_bits_do_not_panic(word: u64, low: u32, header: [u8; 2]) {
        if let Ok(reference) = InodeRef::parse(word, Part::Inode, START) {
            prop_assert_eq!(reference.word(), word);
        }
        if let Ok(parsed) = MetadataHeader::parse(header, START) {
            prop_assert_eq!(parsed.write(), header);
        }
        if let Ok(block) = BlockWord::parse(low, BlockSize::MAX, Part::Inode, START) {
            prop_assert_eq!(block.word(), low);
            prop_assert_eq!(block.is_sparse(), block.size_bytes() == 0);
        }
        prop_assert_eq!(DeviceNumber::decode(low).encode(), Some(low));
        let _ = BlockSize::new(low);
    }

    #[test]
    fn an_inode_of_random_bytes_does_not_panic(
        kind in 1_u8..15,
        mut bytes in vec(any::<u8>(), 0..200),
    ) {
        if let Some(first) = bytes.first_mut() {
            *first = kind;
        }
        if let Some(second) = bytes.get_mut(1) {
            *second = 0;
        }
        if let Ok((inode, rest)) = read_inode(&bytes, BlockSize::DEFAULT) {
            // What could be read can be written; the form may be smaller.
            let again = written(&inode);
            prop_assert!(again.len() <= bytes.len() - rest.len());
            prop_assert_eq!(read_inode(&again, BlockSize::DEFAULT), Ok((inode, &[][..])));
        }
    }

    #[test]
    fn tables_of_random_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..40), start: u64) {
        let _ = Fragment::parse(&bytes, BlockSize::DEFAULT, start);
        let _ = XattrId::parse(&bytes, start);
        let _ = XattrTable::parse(&bytes, start);
        let _ = XattrPrefix::split(&bytes);
        let _ = is_legal_name(&bytes);
        if let Some(fixed) = bytes.first_chunk() {
            let _ = IndexEntry::parse_fixed(fixed, start);
        }
    }

    #[test]
    fn a_listing_of_random_bytes_does_not_panic(bytes in vec(0_u8..9, 0..300)) {
        // Small bytes: counts, types and name lengths are legal more often.
        if let Ok(entries) = parse_listing(&bytes, START) {
            prop_assert!(entries.is_sorted_by(|before, after| before.name < after.name));
            prop_assert!(entries.iter().all(|entry| is_legal_name(&entry.name)));
        }
    }
}
