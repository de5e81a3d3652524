//! Trees of known bytes, and what holds for all of them.

use std::fs;

use coldpress_verity::{Area, BlockBytes, Error, Parameters, Salt, Settings, Tree, protect};
use proptest::prelude::*;

use crate::sample::{Numbers, create, data, on, tree_of, verify, workers};

fn zeros(blocks: usize) -> Vec<u8> {
    vec![0; blocks * 4096]
}

/// What veritysetup 2.6.1 prints for zeros.
#[test]
fn root_hashes_are_those_that_veritysetup_printed() {
    let with_salt = Parameters {
        salt: Salt::parse("0011").unwrap(),
        ..Parameters::default()
    };
    for (blocks, parameters, expected) in [
        (
            1,
            Parameters::default(),
            "ad7facb2586fc6e966c004d7d1d16b024f5805ff7cb47c7a85dabd8b48892ca7",
        ),
        (
            129,
            Parameters::default(),
            "3e5d285ca1f11edfca6327028471f08b75634ff3361264b88d79ee2e95cacb84",
        ),
        (
            300,
            with_salt,
            "1c0a468f6a66bf31723fbc3df9b866a7e7824a7fb71fc218dfc29cb5580aaa25",
        ),
    ] {
        let (protected, bytes) = tree_of(&zeros(blocks), &parameters, (0, true), 2);
        assert_eq!(protected.root_hash.to_string(), expected);
        assert_eq!(protected.geometry.end, bytes.len() as u64);
    }
}

#[test]
fn salt_and_uuid_follow_from_the_data() {
    let directory = tempfile::tempdir().unwrap();
    let protected = |data: &[u8], threads| {
        let file = create(&directory.path().join("tree"));
        let area = Area {
            file: &file,
            start: 0,
            has_superblock: true,
        };
        let settings = Settings::default();
        let data = (&data as &dyn coldpress_image::ReadAt, data.len() as u64);
        protect(data, area, &settings, &workers(threads), &mut on).unwrap()
    };
    let zeros = zeros(700);
    let first = protected(&zeros, 1);
    assert_eq!(first.superblock, protected(&zeros, 3).superblock);
    let salt = first.superblock.parameters.salt.to_string();
    assert_eq!(
        salt,
        "908c94ca859c4df89799197764231f816deb280912bef540bb5bb203ee5daad8"
    );
    let uuid = first.superblock.uuid.to_string();
    assert_eq!(uuid, "eaf0969d-2433-8912-9b5d-1b89d40d1965");
    let mut other = zeros;
    other[2_000_000] = 1;
    let other = protected(&other, 2);
    assert_ne!(
        first.superblock.parameters.salt,
        other.superblock.parameters.salt
    );
    assert_ne!(first.superblock.uuid, other.superblock.uuid);
}

#[test]
fn an_appended_tree_is_found_after_its_image() {
    for (used, padded, data_block) in [
        (4096, 4096, 4096),
        (4097, 8192, 4096),
        (100, 4096, 512),
        (100, 512, 512),
        (5000, 65_536, 65_536),
    ] {
        let parameters = Parameters {
            data_block: BlockBytes::new(data_block).unwrap(),
            ..Parameters::default()
        };
        let data = vec![0; padded];
        let (_, mut bytes) = tree_of(&data, &parameters, (padded as u64, true), 1);
        let found = Tree::appended(&bytes, used).unwrap().unwrap();
        assert_eq!(found.start, padded as u64);
        assert!(Tree::appended(&data, used).unwrap().is_none());
        // About fewer data than there are before it.
        bytes[padded + 72] = 0;
        assert!(Tree::appended(&bytes, used).is_err());
    }
    assert!(Tree::appended(&vec![0; 10], u64::MAX).unwrap().is_none());
}

#[test]
fn what_cannot_be_protected_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tree");
    fs::write(&path, "kept").unwrap();
    let refused = |bytes: u64, start| {
        let file = create(&path);
        let area = Area {
            file: &file,
            start,
            has_superblock: true,
        };
        let settings = Settings::default();
        let data = vec![0_u8; 4096];
        protect((&data, bytes), area, &settings, &workers(1), &mut on).unwrap_err()
    };
    assert!(matches!(refused(4095, 0), Error::Unaligned { .. }));
    assert!(matches!(refused(0, 0), Error::Empty));
    assert!(matches!(refused(4096, 100), Error::Misplaced { .. }));
    assert!(matches!(refused(1 << 63, 0), Error::TooLarge { .. }));
    // Before anything is written.
    assert_eq!(fs::read(&path).unwrap(), b"kept");
    assert!(matches!(refused(8192, 0), Error::Short { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_tree_verifies_and_is_the_same_for_any_number_of_threads(seed: u64, blocks in 1..600_u64) {
        let mut numbers = Numbers(seed);
        let parameters = numbers.parameters();
        let blocks = 1 + blocks % ((3 << 20) / parameters.data_block.bytes());
        let data = data(&mut numbers, &parameters, blocks);
        let (protected, bytes) = tree_of(&data, &parameters, (0, true), 1);
        let (again, same) = tree_of(&data, &parameters, (0, true), 4);
        prop_assert_eq!(&protected.root_hash, &again.root_hash);
        prop_assert_eq!(&bytes, &same);
        for threads in [1, 3] {
            prop_assert_eq!(verify(&data, &bytes, &protected.root_hash, threads).unwrap(), None);
        }
    }
}
