//! Metadata blocks and the tables of fixed-size entries that are packed in them.
//!
//! A metadata block is a two-byte header and up to 8 KiB of metadata, compressed or not. Inode
//! and directory tables are streams of such blocks. Fragment, export and id tables are entries of
//! one size in metadata blocks, found through an index: a list of the blocks' image bytes that
//! stands behind them uncompressed, and that the superblock points to.
//! Rules: docs/format.md, "Packing metadata" and "Tables found through an index".

use crate::METADATA_BLOCK_SIZE;
use crate::error::{Corrupt, Part};

/// The two bytes before each metadata block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataHeader {
    /// Bytes that follow the header, 1 to 8192.
    pub size_bytes: u16,
    /// Whether they must be decompressed.
    pub compressed: bool,
}

impl MetadataHeader {
    /// Bytes of the header itself.
    pub const SIZE: u64 = 2;
    const STORED: u16 = 0x8000;

    /// Reads a header.
    ///
    /// * `start`: image byte of the header, for errors.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if the size is 0 (which the kernel takes for 32 KiB) or over 8192.
    pub fn parse(bytes: [u8; 2], start: u64) -> Result<Self, Corrupt> {
        let word = u16::from_le_bytes(bytes);
        let size_bytes = word & !Self::STORED;
        let (found, allowed) = (size_bytes.into(), 1..=METADATA_BLOCK_SIZE as u64);
        Corrupt::check_range(Part::MetadataBlock, start, "size", found, allowed)?;
        Ok(Self {
            size_bytes,
            compressed: word & Self::STORED == 0,
        })
    }

    /// The two bytes on disk.
    ///
    /// # Panics
    ///
    /// If the size is 0 or over 8192: no metadata block has such a size.
    pub const fn write(self) -> [u8; 2] {
        assert!(self.size_bytes != 0 && self.size_bytes as usize <= METADATA_BLOCK_SIZE);
        let stored = if self.compressed { 0 } else { Self::STORED };
        (self.size_bytes | stored).to_le_bytes()
    }
}

/// How many metadata blocks a table of `count` entries of `entry_bytes` bytes takes.
pub fn table_blocks(count: u64, entry_bytes: u64) -> u64 {
    count
        .saturating_mul(entry_bytes)
        .div_ceil(METADATA_BLOCK_SIZE as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_of_size_zero_or_over_8192_is_refused() {
        for (word, legal) in [
            (0, false),
            (0x8000, false),
            (1, true),
            (0xa000, true),
            (0xa001, false),
        ] {
            let parsed = MetadataHeader::parse(u16::to_le_bytes(word), 0);
            assert_eq!(parsed.is_ok(), legal, "{word:#x}");
            if let Ok(header) = parsed {
                assert_eq!(header.write(), u16::to_le_bytes(word));
            }
        }
    }

    #[test]
    fn a_table_takes_as_many_blocks_as_its_bytes_need() {
        for (count, entry, blocks) in [
            (0, 4, 0),
            (1, 4, 1),
            (2048, 4, 1),
            (2049, 4, 2),
            (513, 16, 2),
        ] {
            assert_eq!(table_blocks(count, entry), blocks);
        }
    }
}
