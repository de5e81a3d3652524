//! The start pack: the pages that a start touches, after the image, for readers that know it.
//!
//! Field rules: docs/start-pack.md.

mod index;

pub use index::{PackFile, PackIndex, PackRun, RawPackFile, RawPackIndex, RawPackRun};

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::block::{BlockSize, BlockWord};
use crate::compressor::Compressor;
use crate::error::{Corrupt, Part, Rule};

/// Bytes of a page: the unit of the page cache that a pack is made for.
pub const PACK_PAGE_BYTES: u64 = 4096;
/// The first bytes of a pack.
pub const PACK_MAGIC: [u8; 8] = *b"coldpack";
const VERSION: u64 = 1;
/// 64 GiB of pages.
const PIECES_MAX: u64 = 1 << 16;
/// 16 MiB of index: a million runs.
const INDEX_PIECES_MAX: u64 = 16;

/// The header of a pack as it lies on disk.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawPackHeader {
    /// [`PACK_MAGIC`].
    pub magic: [u8; 8],
    /// 1.
    pub version: U16,
    /// Number of the compressor of all pieces, as in the superblock.
    pub compressor: U16,
    /// Number of pieces.
    pub piece_count: U32,
    /// How many of them, the first, hold the index.
    pub index_piece_count: U32,
    /// Zero.
    pub unused: U32,
    /// Bytes of the pack: header, piece table and pieces.
    pub size_bytes: U64,
    /// BLAKE3 of the superblock.
    pub superblock_digest: [u8; 32],
    /// BLAKE3 of the piece table.
    pub table_digest: [u8; 32],
    /// BLAKE3 of the header up to here.
    pub header_digest: [u8; 32],
}

const _: () = assert!(size_of::<RawPackHeader>() == PackHeader::SIZE);

/// The header of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackHeader {
    /// The compressor of all pieces; it need not be that of the image.
    pub compressor: Compressor,
    /// Number of pieces.
    pub piece_count: u32,
    /// How many of them, the first, hold the index.
    pub index_piece_count: u32,
    /// Bytes of the pack: header, piece table and pieces.
    pub size_bytes: u64,
    /// BLAKE3 of the superblock of the image to which it belongs.
    pub superblock_digest: [u8; 32],
    /// BLAKE3 of the piece table.
    pub table_digest: [u8; 32],
}

impl PackHeader {
    /// Bytes of a header.
    pub const SIZE: usize = 128;
    /// Of these, those of which the last 32 are the digest.
    const DIGESTED: usize = 96;

    /// Reads a header.
    ///
    /// * `digest`: BLAKE3.
    /// * `start`: image byte of the header, for errors.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if bytes are missing, the version is unknown, a digest does not match, or a
    /// number is out of bounds.
    pub fn parse(
        bytes: &[u8],
        digest: impl FnOnce(&[u8]) -> [u8; 32],
        start: u64,
    ) -> Result<Self, Corrupt> {
        let fail = |rule| Corrupt::new(Part::StartPack, start, rule);
        let range = |field, found, allowed| {
            Corrupt::check_range(Part::StartPack, start, field, found, allowed)
        };
        let (raw, _) = RawPackHeader::read_from_prefix(bytes).map_err(|_| {
            fail(Rule::Truncated {
                needed: Self::SIZE as u64,
                found: bytes.len() as u64,
            })
        })?;
        if raw.magic != PACK_MAGIC {
            let found = u64::from_le_bytes(raw.magic);
            let expected = u64::from_le_bytes(PACK_MAGIC);
            let field = "magic";
            return Err(fail(Rule::Mismatch {
                field,
                found,
                expected,
            }));
        }
        let version = u64::from(raw.version.get());
        if version != VERSION {
            let field = "version of the start pack";
            let found = version;
            return Err(fail(Rule::Unsupported { field, found }));
        }
        let digested = raw.as_bytes().split_at(Self::DIGESTED);
        if digest(digested.0) != raw.header_digest {
            return Err(fail(Rule::WrongDigest { of: "header" }));
        }
        let (pieces, index_pieces) = (raw.piece_count.get(), raw.index_piece_count.get());
        range("number of pieces", pieces.into(), 1..=PIECES_MAX)?;
        let most = INDEX_PIECES_MAX.min(pieces.into());
        range("pieces of the index", index_pieces.into(), 1..=most)?;
        let number = raw.compressor.get();
        let compressor = Compressor::from_number(number).ok_or_else(|| {
            let (field, found) = ("compressor", number.into());
            fail(Rule::Unsupported { field, found })
        })?;
        let header = Self {
            compressor,
            piece_count: pieces,
            index_piece_count: index_pieces,
            size_bytes: raw.size_bytes.get(),
            superblock_digest: raw.superblock_digest,
            table_digest: raw.table_digest,
        };
        let least = header.pieces_offset();
        range("size of the start pack", header.size_bytes, least..=1 << 40)?;
        Ok(header)
    }

    /// The header on disk.
    ///
    /// * `digest`: BLAKE3.
    pub fn write(&self, digest: impl FnOnce(&[u8]) -> [u8; 32]) -> [u8; Self::SIZE] {
        let mut raw = RawPackHeader {
            magic: PACK_MAGIC,
            version: U16::new(1),
            compressor: self.compressor.number().into(),
            piece_count: self.piece_count.into(),
            index_piece_count: self.index_piece_count.into(),
            unused: 0.into(),
            size_bytes: self.size_bytes.into(),
            superblock_digest: self.superblock_digest,
            table_digest: self.table_digest,
            header_digest: [0; 32],
        };
        let digested = raw.as_bytes().split_at(Self::DIGESTED);
        raw.header_digest = digest(digested.0);
        let mut bytes = [0; Self::SIZE];
        bytes.copy_from_slice(raw.as_bytes());
        bytes
    }

    /// Bytes of the piece table, which follows the header.
    pub fn table_bytes(&self) -> u64 {
        u64::from(self.piece_count).saturating_mul(PackPiece::SIZE as u64)
    }

    /// Where the first piece lies in the pack.
    pub fn pieces_offset(&self) -> u64 {
        self.table_bytes().saturating_add(Self::SIZE as u64)
    }
}

/// An entry of the piece table as it lies on disk.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawPackPiece {
    /// [`BlockWord`] of the piece.
    pub size: U32,
    /// Bytes that it holds.
    pub len_bytes: U32,
    /// The first half of the BLAKE3 of its bytes on disk.
    pub digest: [u8; 16],
}

const _: () = assert!(size_of::<RawPackPiece>() == PackPiece::SIZE);

/// One piece of a pack: compressed on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackPiece {
    /// Its size on disk, and whether it is compressed.
    pub size: BlockWord,
    /// Bytes that it holds, at most 1 MiB.
    pub len_bytes: u32,
    /// The first half of the BLAKE3 of its bytes on disk.
    pub digest: [u8; 16],
}

impl PackPiece {
    /// Bytes of an entry.
    pub const SIZE: usize = 24;
    /// Bytes that a piece holds at most.
    pub const LEN_MAX: u32 = BlockSize::MAX.bytes();

    /// Reads an entry.
    ///
    /// * `start`: image byte of the entry, for errors.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if bytes are missing, or the piece is empty or over 1 MiB.
    pub fn parse(bytes: &[u8], start: u64) -> Result<Self, Corrupt> {
        let range = |field, found: u32, allowed| {
            Corrupt::check_range(Part::StartPack, start, field, found.into(), allowed)
        };
        let (raw, _) = RawPackPiece::read_from_prefix(bytes).map_err(|_| {
            let (needed, found) = (Self::SIZE as u64, bytes.len() as u64);
            Corrupt::new(Part::StartPack, start, Rule::Truncated { needed, found })
        })?;
        let size = BlockWord::parse(raw.size.get(), BlockSize::MAX, Part::StartPack, start)?;
        let allowed = 1..=Self::LEN_MAX.into();
        range("piece size on disk", size.size_bytes(), allowed.clone())?;
        range("length of a piece", raw.len_bytes.get(), allowed)?;
        Ok(Self {
            size,
            len_bytes: raw.len_bytes.get(),
            digest: raw.digest,
        })
    }

    /// The entry on disk.
    pub fn write(self) -> [u8; Self::SIZE] {
        let raw = RawPackPiece {
            size: self.size.word().into(),
            len_bytes: self.len_bytes.into(),
            digest: self.digest,
        };
        let mut bytes = [0; Self::SIZE];
        bytes.copy_from_slice(raw.as_bytes());
        bytes
    }
}

/// How many bytes a pack says that it has, from its first 32 bytes; `None` if there is none.
///
/// Nothing of that is checked: it tells where to look for what may follow a pack.
pub fn stated_pack_bytes(bytes: &[u8]) -> Option<u64> {
    let size = bytes.strip_prefix(&PACK_MAGIC)?.get(16..)?.first_chunk()?;
    Some(u64::from_le_bytes(*size))
}

/// Image byte at which the pack of an image lies, if it has one.
pub fn pack_start(bytes_used: u64) -> u64 {
    bytes_used
        .checked_next_multiple_of(PACK_PAGE_BYTES)
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
