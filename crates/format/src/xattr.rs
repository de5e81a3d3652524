//! Extended attributes: keys, values, and the table that inodes index.
//!
//! Each distinct set of xattrs is stored once: a run of (key, value) pairs in metadata blocks,
//! found through an entry of the xattr id table. The table's header, which the superblock points
//! to, says where the pairs start and is followed by the index of the table's metadata blocks.
//! Field rules: docs/format.md, "Xattr table".

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::{Corrupt, Part, Rule};
use crate::superblock::SUPERBLOCK_SIZE;

/// The name spaces that the format can store, by number. POSIX ACLs (`system.`) have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u16)]
pub enum XattrPrefix {
    /// `user.`
    User = 0,
    /// `trusted.`
    Trusted = 1,
    /// `security.`
    Security = 2,
}

impl XattrPrefix {
    /// Every prefix, by number.
    pub const ALL: [Self; 3] = [Self::User, Self::Trusted, Self::Security];
    /// Set in a key's type when the value stands elsewhere and only a reference follows.
    pub const OUT_OF_LINE: u16 = 0x0100;

    /// The prefix as it stands before a name, with its dot.
    pub const fn text(self) -> &'static [u8] {
        match self {
            Self::User => b"user.",
            Self::Trusted => b"trusted.",
            Self::Security => b"security.",
        }
    }

    /// Splits a full name such as `user.mime_type`; `None` if the format cannot store it.
    pub fn split(name: &[u8]) -> Option<(Self, &[u8])> {
        Self::ALL
            .into_iter()
            .find_map(|prefix| Some((prefix, name.strip_prefix(prefix.text())?)))
            .filter(|(_, rest)| !rest.is_empty() && u16::try_from(rest.len()).is_ok())
    }

    /// The prefix with the number in the low byte of a key's type.
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|prefix| *prefix as u16 == number)
    }
}

/// The fixed part of a key as it lies on disk; the name without prefix follows.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawXattrKey {
    /// Prefix number, with [`XattrPrefix::OUT_OF_LINE`].
    pub kind: U16,
    /// Bytes of the name.
    pub name_size: U16,
}

/// The fixed part of a value as it lies on disk; the bytes follow.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawXattrValue {
    /// Bytes of the value.
    pub value_size: U32,
}

/// An entry of the xattr id table as it lies on disk.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawXattrId {
    /// Metadata reference of the first pair, relative to the start of the pairs.
    pub pairs: U64,
    /// Number of pairs.
    pub count: U32,
    /// Bytes that the pairs take before compression.
    pub size: U32,
}

/// The header of the xattr id table as it lies on disk.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawXattrTable {
    /// Image byte of the first metadata block of pairs.
    pub pairs_start: U64,
    /// Number of entries in the table.
    pub count: U32,
    /// Zero.
    pub unused: U32,
}

const _: () = {
    assert!(size_of::<RawXattrKey>() == 4);
    assert!(size_of::<RawXattrValue>() == 4);
    assert!(size_of::<RawXattrId>() == XattrId::SIZE);
    assert!(size_of::<RawXattrTable>() == XattrTable::SIZE);
};

/// One set of xattrs: an entry of the xattr id table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XattrId {
    /// Metadata reference of the first pair, relative to the start of the pairs.
    pub pairs: u64,
    /// Number of pairs.
    pub count: u32,
    /// Bytes that the pairs take before compression.
    pub size_bytes: u32,
}

impl XattrId {
    /// Bytes of an entry.
    pub const SIZE: usize = 16;

    /// Reads an entry.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if bytes are missing or the set is empty.
    pub fn parse(bytes: &[u8], start: u64) -> Result<Self, Corrupt> {
        let fail = |rule| Corrupt::new(Part::XattrTable, start, rule);
        let (raw, _) = RawXattrId::read_from_prefix(bytes).map_err(|_| {
            fail(Rule::Truncated {
                needed: Self::SIZE as u64,
                found: bytes.len() as u64,
            })
        })?;
        let count = raw.count.get();
        let allowed = 1..=u32::MAX.into();
        Corrupt::check_range(
            Part::XattrTable,
            start,
            "xattr count",
            count.into(),
            allowed,
        )?;
        Ok(Self {
            pairs: raw.pairs.get(),
            count,
            size_bytes: raw.size.get(),
        })
    }

    /// The entry on disk.
    pub fn write(self) -> [u8; Self::SIZE] {
        let raw = RawXattrId {
            pairs: self.pairs.into(),
            count: self.count.into(),
            size: self.size_bytes.into(),
        };
        let mut bytes = [0; Self::SIZE];
        bytes.copy_from_slice(raw.as_bytes());
        bytes
    }
}

/// The header of the xattr id table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XattrTable {
    /// Image byte of the first metadata block of pairs.
    pub pairs_start: u64,
    /// Number of entries, at least 1: the kernel refuses an empty table.
    pub count: u32,
}

impl XattrTable {
    /// Bytes of the header.
    pub const SIZE: usize = 16;

    /// Reads the header.
    ///
    /// * `start`: image byte of the header.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if bytes are missing, the table is empty, or the pairs do not lie between the
    /// superblock and it.
    pub fn parse(bytes: &[u8], start: u64) -> Result<Self, Corrupt> {
        let fail = |rule| Corrupt::new(Part::XattrTable, start, rule);
        let (raw, _) = RawXattrTable::read_from_prefix(bytes).map_err(|_| {
            fail(Rule::Truncated {
                needed: Self::SIZE as u64,
                found: bytes.len() as u64,
            })
        })?;
        let (pairs_start, count) = (raw.pairs_start.get(), raw.count.get());
        let range = |field, found, allowed| {
            Corrupt::check_range(Part::XattrTable, start, field, found, allowed)
        };
        range("xattr id count", count.into(), 1..=u32::MAX.into())?;
        let allowed = SUPERBLOCK_SIZE as u64..=start.saturating_sub(1);
        range("xattr pairs start", pairs_start, allowed)?;
        Ok(Self { pairs_start, count })
    }

    /// The header on disk.
    pub fn write(self) -> [u8; Self::SIZE] {
        let raw = RawXattrTable {
            pairs_start: self.pairs_start.into(),
            count: self.count.into(),
            unused: 0.into(),
        };
        let mut bytes = [0; Self::SIZE];
        bytes.copy_from_slice(raw.as_bytes());
        bytes
    }
}
