//! Directory listings: names sorted by their bytes, in runs that share a header.
//!
//! A header states the metadata block of the inodes and a base number; the up to 256 entries
//! behind it state only the offset in that block and a 16-bit difference. A new run begins when
//! the block changes, the difference overflows, 256 entries are reached, or a metadata block of
//! the directory table is crossed: there an index entry lets the kernel start its search.
//! Field rules: docs/format.md, "Directories".

use zerocopy::little_endian::{I16, U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{Corrupt, Part, Rule};
use crate::inode::{InodeKind, InodeRef};

mod listing;

pub use listing::{
    EntrySpan, Listing, append_listing, listing_spans, parse_listing, write_listing,
};

/// The most bytes of a name; the VFS allows 255, the format 256.
pub const NAME_MAX_BYTES: usize = 256;

/// The header of a run as it lies on disk.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawDirectoryHeader {
    /// Number of entries, less 1.
    pub count: U32,
    /// Start of the metadata block of their inodes.
    pub inode_block_start: U32,
    /// Inode number that the entries' differences are added to.
    pub base_number: U32,
}

/// An entry as it lies on disk; the name follows.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawDirectoryEntry {
    /// Byte of the inode in its metadata block.
    pub inode_offset: U16,
    /// Inode number, less the base number.
    pub number_delta: I16,
    /// Basic type, 1 to 7.
    pub kind: U16,
    /// Bytes of the name, less 1.
    pub name_size: U16,
}

/// An entry of a directory index as it lies on disk; the name follows.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawIndexEntry {
    /// Byte of the run's header in the listing.
    pub listing_offset: U32,
    /// Start of the metadata block in which that header begins.
    pub block_start: U32,
    /// Bytes of the name, less 1.
    pub name_size: U32,
}

const _: () = {
    assert!(size_of::<RawDirectoryHeader>() == 12);
    assert!(size_of::<RawDirectoryEntry>() == 8);
    assert!(size_of::<RawIndexEntry>() == IndexEntry::FIXED_BYTES);
};

/// A name in a directory and the inode it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name: 1 to 256 bytes, no `/`, no zero byte.
    pub name: Vec<u8>,
    /// Where the inode lies.
    pub inode: InodeRef,
    /// The inode's number.
    pub number: u32,
    /// The inode's type.
    pub kind: InodeKind,
}

/// An [`Entry`] whose name lies elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryRef<'a> {
    /// The name: 1 to 256 bytes, no `/`, no zero byte.
    pub name: &'a [u8],
    /// Where the inode lies.
    pub inode: InodeRef,
    /// The inode's number.
    pub number: u32,
    /// The inode's type.
    pub kind: InodeKind,
}

impl Entry {
    /// The entry without its name of its own.
    pub fn borrow(&self) -> EntryRef<'_> {
        EntryRef {
            name: &self.name,
            inode: self.inode,
            number: self.number,
            kind: self.kind,
        }
    }
}

/// An entry of a directory index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// Byte of a run's header in the listing.
    pub listing_offset: u32,
    /// Start of the metadata block in which that header begins, from the directory table's start.
    pub block_start: u32,
    /// The first name of the run.
    pub name: Vec<u8>,
}

impl IndexEntry {
    /// Bytes before the name.
    pub const FIXED_BYTES: usize = 12;

    /// Reads the fixed part of an index entry.
    ///
    /// Returns the entry without its name, and the bytes of the name that follows (1 to 256).
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if the name is too long.
    pub fn parse_fixed(
        bytes: &[u8; Self::FIXED_BYTES],
        start: u64,
    ) -> Result<(Self, usize), Corrupt> {
        let fail = |rule| Corrupt::new(Part::DirectoryIndex, start, rule);
        let raw = RawIndexEntry::read_from_bytes(bytes).map_err(|_| {
            fail(Rule::Truncated {
                needed: 12,
                found: bytes.len() as u64,
            })
        })?;
        let Ok(size) = u8::try_from(raw.name_size.get()) else {
            return Err(fail(Rule::OutOfRange {
                field: "name size",
                found: raw.name_size.get().into(),
                low: 0,
                high: u8::MAX.into(),
            }));
        };
        let (listing_offset, block_start) = (raw.listing_offset.get(), raw.block_start.get());
        Ok((
            Self {
                listing_offset,
                block_start,
                name: Vec::new(),
            },
            usize::from(size).saturating_add(1),
        ))
    }

    /// Appends the entry as it lies on disk.
    ///
    /// # Panics
    ///
    /// If the name is empty or over 256 bytes.
    pub fn write(&self, output: &mut Vec<u8>) {
        let raw = RawIndexEntry {
            listing_offset: self.listing_offset.into(),
            block_start: self.block_start.into(),
            name_size: u32::from(name_size(&self.name)).into(),
        };
        output.extend_from_slice(raw.as_bytes());
        output.extend_from_slice(&self.name);
    }
}

/// Whether the format, and the kernel behind it, can hold this name.
pub fn is_legal_name(name: &[u8]) -> bool {
    (1..=NAME_MAX_BYTES).contains(&name.len())
        && name != b"."
        && name != b".."
        && !name.iter().any(|byte| matches!(byte, 0 | b'/'))
}

/// The size field of a name: its bytes, less 1.
fn name_size(name: &[u8]) -> u8 {
    name.len()
        .checked_sub(1)
        .and_then(|size| u8::try_from(size).ok())
        .expect("a name has 1 to 256 bytes")
}
