//! Images and trees that were changed.

use coldpress_verity::{
    Algorithm, BlockBytes, Error, HashType, Mismatch, Parameters, RootHash, Tree,
};

use crate::sample::{Numbers, data, tree_of, verify};

fn small_blocks(hash_type: HashType, algorithm: Algorithm) -> Parameters {
    Parameters {
        hash_type,
        algorithm,
        data_block: BlockBytes::new(512).unwrap(),
        hash_block: BlockBytes::new(512).unwrap(),
        ..Parameters::default()
    }
}

#[test]
fn the_first_block_that_differs_is_named() {
    for algorithm in Algorithm::ALL {
        for hash_type in [HashType::Normal, HashType::ChromeOs] {
            let parameters = small_blocks(hash_type, algorithm);
            let mut data = data(&mut Numbers(3), &parameters, 3000);
            let (protected, hashes) = tree_of(&data, &parameters, (0, true), 2);
            for block in [2999, 2048, 2047, 16, 0] {
                data[usize::try_from(block).unwrap() * 512 + 511] ^= 1;
                let start = block * 512;
                let expected = Some(Mismatch::Data { block, start });
                for threads in [1, 3] {
                    let found = verify(&data, &hashes, &protected.root_hash, threads).unwrap();
                    assert_eq!(found, expected, "{algorithm:?} {hash_type:?}");
                }
            }
        }
    }
}

#[test]
fn hash_blocks_are_verified_from_the_root_down() {
    let parameters = small_blocks(HashType::Normal, Algorithm::Sha256);
    let data = data(&mut Numbers(4), &parameters, 300);
    let (protected, mut hashes) = tree_of(&data, &parameters, (0, true), 2);
    // Leaves: 19 blocks; above: 2; the uppermost: 1; and the superblock before them.
    let levels: Vec<_> = protected
        .geometry
        .levels
        .iter()
        .map(|it| it.start)
        .collect();
    assert_eq!(levels, [4 * 512, 2 * 512, 512]);
    for (start, level, is_root) in [(21 * 512, 0, false), (3 * 512, 1, false), (512, 2, true)] {
        hashes[start] ^= 1;
        let found = verify(&data, &hashes, &protected.root_hash, 2).unwrap();
        let start = start as u64;
        let expected = Mismatch::Hashes {
            level,
            start,
            is_root,
        };
        assert_eq!(found, Some(expected));
        assert!(
            expected
                .to_string()
                .contains(&format!("byte {start} of the hash tree"))
        );
    }
}

#[test]
fn a_root_hash_of_something_else_is_refused() {
    let parameters = Parameters::default();
    for (blocks, expected) in [
        (1, Mismatch::Only),
        (
            2,
            Mismatch::Hashes {
                level: 0,
                start: 4096,
                is_root: true,
            },
        ),
    ] {
        let data = data(&mut Numbers(5), &parameters, blocks);
        let (_, hashes) = tree_of(&data, &parameters, (0, true), 1);
        let other = RootHash::parse(&"ab".repeat(32)).unwrap();
        assert_eq!(verify(&data, &hashes, &other, 1).unwrap(), Some(expected));
        let longer = RootHash::parse(&"ab".repeat(64)).unwrap();
        let error = verify(&data, &hashes, &longer, 1).unwrap_err();
        assert!(matches!(error, Error::RootHash { .. }), "{error}");
    }
}

#[test]
fn what_was_cut_short_is_named() {
    let parameters = Parameters::default();
    let data = data(&mut Numbers(6), &parameters, 200);
    let (protected, hashes) = tree_of(&data, &parameters, (0, true), 1);
    let root = &protected.root_hash;
    for (data_bytes, hash_bytes, expected) in [
        (
            data.len() - 1,
            hashes.len(),
            "the image ends at byte 819199, but must reach to byte 819200",
        ),
        (
            data.len(),
            hashes.len() - 1,
            "the hash tree ends at byte 16383, but must reach to byte 16384",
        ),
        (
            data.len(),
            511,
            "the hash tree ends at byte 511, but must reach to byte 512",
        ),
        (
            data.len(),
            0,
            "the hash tree ends at byte 0, but must reach to byte 512",
        ),
    ] {
        let error = verify(&data[..data_bytes], &hashes[..hash_bytes], root, 2).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

/// Sizes in the superblock that nothing may be allocated from, and no sum may overflow on.
#[test]
fn a_superblock_with_sizes_beyond_its_file_is_refused() {
    let parameters = Parameters::default();
    let data = data(&mut Numbers(7), &parameters, 200);
    let (_, hashes) = tree_of(&data, &parameters, (0, true), 1);
    for data_blocks in [0, 16_385, 1 << 40, 1 << 51, u64::MAX / 4096, u64::MAX] {
        let mut hashes = hashes.clone();
        hashes[72..80].copy_from_slice(&data_blocks.to_le_bytes());
        let error = Tree::read(&hashes, 0).unwrap_err();
        let is_named = matches!(
            error,
            Error::Empty | Error::TooLarge { .. } | Error::Short { .. }
        );
        assert!(is_named, "{data_blocks}: {error}");
    }
}
