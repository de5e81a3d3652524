//! Sizes of data blocks, and the word that a block list holds for each.

use crate::error::{Corrupt, Part, Rule};

/// The uncompressed size of a data block: a power of two from 4 KiB to 1 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockSize(u32);

impl BlockSize {
    /// 128 KiB, as mksquashfs uses unless told otherwise.
    pub const DEFAULT: Self = Self(128 << 10);
    /// 4 KiB. A kernel whose pages are larger does not mount such an image.
    pub const MIN: Self = Self(4 << 10);
    /// 1 MiB.
    pub const MAX: Self = Self(1 << 20);

    /// The block size of `bytes` bytes.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] (of a superblock) unless `bytes` is a power of two from 4096 to 1048576.
    pub fn new(bytes: u32) -> Result<Self, Corrupt> {
        if bytes.is_power_of_two() && (Self::MIN.0..=Self::MAX.0).contains(&bytes) {
            return Ok(Self(bytes));
        }
        let rule = Rule::OutOfRange {
            field: "block size (a power of two)",
            found: bytes.into(),
            low: Self::MIN.0.into(),
            high: Self::MAX.0.into(),
        };
        Err(Corrupt::new(Part::Superblock, 0, rule))
    }

    /// The size in bytes.
    pub const fn bytes(self) -> u32 {
        self.0
    }

    /// The base-2 logarithm of the size, 12 to 20.
    pub fn log2(self) -> u16 {
        // At most 20: BlockSize::MAX.
        u16::try_from(self.0.trailing_zeros()).unwrap_or(u16::MAX)
    }

    /// How many full blocks a file of `size_bytes` has.
    pub fn full_blocks(self, size_bytes: u64) -> u64 {
        size_bytes >> self.log2()
    }

    /// The length of the tail end of a file of `size_bytes`, 0 if it ends with a full block.
    pub fn tail_bytes(self, size_bytes: u64) -> u32 {
        // Below 1 MiB: BlockSize::MAX. The remainder is by a constant power of two, never by 0.
        let tail = size_bytes.checked_rem(self.0.into()).unwrap_or(0);
        u32::try_from(tail).unwrap_or(0)
    }
}

/// The word for one block: how many bytes it takes in the image and whether they are compressed.
///
/// Bit 24 set means stored as it is; the word 0 is a sparse block, which takes no bytes. A block's
/// size on disk never exceeds the block size, so bits 25 and above are clear.
///
/// Source: docs/format.md, "Data blocks".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockWord(u32);

impl BlockWord {
    /// A block of zeros that takes no bytes.
    pub const SPARSE: Self = Self(0);
    const STORED: u32 = 1 << 24;

    /// The word of a block of `size_bytes` on disk.
    ///
    /// # Panics
    ///
    /// If `size_bytes` is 0 or over 1 MiB: no encoder gives such a block.
    pub fn new(size_bytes: u32, compressed: bool) -> Self {
        assert!(
            size_bytes != 0 && size_bytes <= BlockSize::MAX.0,
            "block of {size_bytes} bytes"
        );
        Self(if compressed {
            size_bytes
        } else {
            size_bytes | Self::STORED
        })
    }

    /// Reads a word of a block list or of the fragment table.
    ///
    /// * `part`, `start`: where the word stands, for errors.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if the block would take more than `size` bytes, an unused bit is set, or a
    /// stored block has no bytes; the kernel answers such a word with an I/O error.
    pub fn parse(word: u32, size: BlockSize, part: Part, start: u64) -> Result<Self, Corrupt> {
        // Only the word 0 is sparse: bit 24 alone would be a block that is there but empty.
        let low = u64::from(word == Self::STORED);
        let found = (word & !Self::STORED).into();
        let allowed = low..=size.0.into();
        Corrupt::check_range(part, start, "block size on disk", found, allowed)?;
        Ok(Self(word))
    }

    /// The word as it lies on disk.
    pub const fn word(self) -> u32 {
        self.0
    }

    /// Bytes that the block takes in the image.
    pub const fn size_bytes(self) -> u32 {
        self.0 & !Self::STORED
    }

    /// Whether the bytes must be decompressed.
    pub const fn is_compressed(self) -> bool {
        self.0 & Self::STORED == 0
    }

    /// Whether the block is a run of zeros that takes no bytes.
    pub const fn is_sparse(self) -> bool {
        self.0 == Self::SPARSE.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_sizes_are_powers_of_two_from_4k_to_1m() {
        for (bytes, legal) in [
            (0, false),
            (2048, false),
            (4096, true),
            (4097, false),
            (1 << 20, true),
            (1 << 21, false),
        ] {
            assert_eq!(BlockSize::new(bytes).is_ok(), legal, "{bytes}");
        }
    }

    #[test]
    fn a_file_splits_into_full_blocks_and_a_tail() {
        for (size, blocks, tail) in [(0, 0, 0), (1, 0, 1), (4096, 1, 0), (4097, 1, 1)] {
            assert_eq!(BlockSize::MIN.full_blocks(size), blocks);
            assert_eq!(BlockSize::MIN.tail_bytes(size), tail);
        }
    }

    #[test]
    fn a_word_with_bits_above_the_block_size_is_refused() {
        let parse = |word| BlockWord::parse(word, BlockSize::MAX, Part::Inode, 0);
        assert!(parse(1 << 25).is_err());
        assert!(parse((1 << 24) | (1 << 20)).is_ok());
        assert!(parse((1 << 20) + 1).is_err());
        assert!(parse(1 << 24).is_err());
        assert!(parse(0).unwrap().is_sparse());
        assert!(!parse((1 << 24) | 5).unwrap().is_compressed());
    }
}
