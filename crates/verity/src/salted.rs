//! The hash of a block and the salt.

use sha1::Sha1;
use sha2::digest::Digest;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use crate::algorithm::Algorithm;
use crate::parameters::{HashType, Parameters};

/// A hash function that knows the salt.
pub(crate) struct Salted<'a> {
    /// What has seen the salt, if that comes before the block.
    state: State,
    /// What comes after the block.
    after: &'a [u8],
}

enum State {
    Sha1(Sha1),
    Sha224(Sha224),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl<'a> Salted<'a> {
    pub(crate) fn new(parameters: &'a Parameters) -> Self {
        let salt = parameters.salt.bytes();
        let (before, after) = match parameters.hash_type {
            HashType::ChromeOs => (&[][..], salt),
            HashType::Normal => (salt, &[][..]),
        };
        let state = match parameters.algorithm {
            Algorithm::Sha1 => State::Sha1(Sha1::new_with_prefix(before)),
            Algorithm::Sha224 => State::Sha224(Sha224::new_with_prefix(before)),
            Algorithm::Sha256 => State::Sha256(Sha256::new_with_prefix(before)),
            Algorithm::Sha384 => State::Sha384(Sha384::new_with_prefix(before)),
            Algorithm::Sha512 => State::Sha512(Sha512::new_with_prefix(before)),
        };
        Self { state, after }
    }

    /// Writes the hash of a block to the beginning of `to`, which has room for a digest.
    pub(crate) fn hash(&self, block: &[u8], to: &mut [u8]) {
        match &self.state {
            State::Sha1(state) => finish(state.clone(), block, self.after, to),
            State::Sha224(state) => finish(state.clone(), block, self.after, to),
            State::Sha256(state) => finish(state.clone(), block, self.after, to),
            State::Sha384(state) => finish(state.clone(), block, self.after, to),
            State::Sha512(state) => finish(state.clone(), block, self.after, to),
        }
    }
}

fn finish<D: Digest>(mut state: D, block: &[u8], after: &[u8], to: &mut [u8]) {
    state.update(block);
    state.update(after);
    let digest = state.finalize();
    to[..digest.len()].copy_from_slice(&digest);
}
