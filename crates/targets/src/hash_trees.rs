//! Hash trees of dm-verity, whose superblocks anybody may have written.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use coldpress_codec::Workers;
use coldpress_verity::{Mismatch, RootHash, Superblock, Tree};

/// Bytes of an image that would end before the first data block.
const USED_BYTES: u64 = 96;

/// A tree that can be read lies in its file, and a wrong block where it is said to be.
pub(crate) fn verity(data: &[u8]) {
    let workers = Workers {
        threads: NonZeroUsize::MIN,
        window: NonZeroUsize::MIN,
    };
    let trees = [
        Tree::read(&data, 0).ok(),
        Tree::appended(&data, USED_BYTES).ok().flatten(),
    ];
    for tree in trees.into_iter().flatten() {
        let superblock = &tree.superblock;
        let again = Superblock::parse(&superblock.to_bytes(), 0);
        assert_eq!(again.ok().as_ref(), Some(superblock));
        let root_hash = "00".repeat(superblock.parameters.algorithm.digest_bytes());
        let root_hash = RootHash::parse(&root_hash).expect("these are digits");
        let mut on = |_| ControlFlow::Continue(());
        let found = tree.verify(&data, &data, &root_hash, &workers, &mut on);
        if let Ok(Some(Mismatch::Data { start, .. } | Mismatch::Hashes { start, .. })) = found {
            assert!(start < data.len() as u64);
        }
    }
}
