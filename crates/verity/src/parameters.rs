//! What decides about the bytes of a tree.

use crate::algorithm::Algorithm;
use crate::block_bytes::BlockBytes;
use crate::hex::{Salt, Uuid};

/// How hashes lie in their blocks, and whether the salt comes before or after the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HashType {
    /// That of Chrome OS, number 0: hashes without gaps, the salt after the block.
    ChromeOs,
    /// Number 1: each hash takes a power of two of bytes, the salt comes before the block.
    #[default]
    Normal,
}

/// What decides about the bytes of a tree, besides those of the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// How hashes lie in their blocks.
    pub hash_type: HashType,
    /// What hashes are computed with.
    pub algorithm: Algorithm,
    /// Bytes of data under each hash of the lowest level.
    pub data_block: BlockBytes,
    /// Bytes of a block of hashes.
    pub hash_block: BlockBytes,
    /// What is hashed with every block.
    pub salt: Salt,
}

impl Parameters {
    /// Bytes from one hash to the next.
    pub(crate) fn entry_bytes(&self) -> usize {
        let digest_bytes = self.algorithm.digest_bytes();
        match self.hash_type {
            HashType::ChromeOs => digest_bytes,
            HashType::Normal => digest_bytes.next_power_of_two(),
        }
    }

    /// How many hashes a block has: a power of two, at least 8.
    pub(crate) fn entries_per_block(&self) -> u64 {
        let fit = self.hash_block.bytes() / self.algorithm.digest_bytes() as u64;
        1 << fit.ilog2()
    }
}

/// Where the salt of a new tree comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SaltChoice {
    /// From the data: the same data have the same tree, other data another salt.
    #[default]
    Derived,
    /// Another one each time: 32 bytes of the kernel's.
    Random,
    /// From whoever asks.
    Given(Salt),
}

impl SaltChoice {
    /// Reads `none`, `random` or hexadecimal digits.
    ///
    /// # Errors
    ///
    /// If it is none of these.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::Given(Salt::default())),
            "random" => Ok(Self::Random),
            digits => Salt::parse(digits).map(Self::Given),
        }
    }
}

/// How a new tree is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// What it is made with; `salt` replaces the salt of these.
    pub parameters: Parameters,
    /// Where the salt comes from.
    pub salt: SaltChoice,
    /// The name of the tree; without, one that follows from the root hash.
    pub uuid: Option<Uuid>,
}
