//! The fragment table: where each fragment block lies.
//!
//! Field rules: docs/format.md, "Fragment table".

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::block::{BlockSize, BlockWord};
use crate::error::{Corrupt, Part, Rule};

/// An entry of the fragment table as it lies on disk.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawFragment {
    /// Image byte of the fragment block.
    pub start: U64,
    /// [`BlockWord`] of the fragment block.
    pub size: U32,
    /// Zero.
    pub unused: U32,
}

const _: () = assert!(size_of::<RawFragment>() == Fragment::SIZE);

/// One fragment block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Image byte at which the fragment block starts.
    pub start: u64,
    /// Its size on disk.
    pub size: BlockWord,
}

impl Fragment {
    /// Bytes of an entry.
    pub const SIZE: usize = 16;

    /// Stands for an entry that cannot be read: it has no bytes, as no legal one.
    pub const LOST: Self = Self {
        start: 0,
        size: BlockWord::SPARSE,
    };

    /// Reads an entry.
    ///
    /// * `start`: image byte of the metadata block that holds it, for errors.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if bytes are missing, or the block is empty or larger than a data block.
    pub fn parse(bytes: &[u8], block_size: BlockSize, start: u64) -> Result<Self, Corrupt> {
        let fail = |rule| Corrupt::new(Part::FragmentTable, start, rule);
        let (raw, _) = RawFragment::read_from_prefix(bytes).map_err(|_| {
            fail(Rule::Truncated {
                needed: Self::SIZE as u64,
                found: bytes.len() as u64,
            })
        })?;
        let size = BlockWord::parse(raw.size.get(), block_size, Part::FragmentTable, start)?;
        let (field, allowed) = ("fragment block size", 1..=block_size.bytes().into());
        let found = size.size_bytes().into();
        Corrupt::check_range(Part::FragmentTable, start, field, found, allowed)?;
        Ok(Self {
            start: raw.start.get(),
            size,
        })
    }

    /// The entry on disk.
    pub fn write(self) -> [u8; Self::SIZE] {
        let raw = RawFragment {
            start: self.start.into(),
            size: self.size.word().into(),
            unused: 0.into(),
        };
        let mut bytes = [0; Self::SIZE];
        bytes.copy_from_slice(raw.as_bytes());
        bytes
    }
}
