//! The superblock: the first 96 bytes of every image.
//!
//! It names the compressor and the block size and says where each table starts; nothing else can
//! be found without it. Field rules: docs/format.md, "Superblock".

use std::mem::offset_of;

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::block::BlockSize;
use crate::compressor::Compressor;
use crate::error::{Corrupt, Part, Rule};
use crate::inode::InodeRef;

/// `hsqs` as a little-endian word.
pub const MAGIC: u32 = 0x7371_7368;
/// Bytes of the superblock.
pub const SUPERBLOCK_SIZE: usize = 96;
/// Files are padded with zeros to a multiple of this, because loop devices round down to sectors
/// and would otherwise hide the end of the id table.
pub const PADDING_SIZE: u64 = 4096;
/// The root's parent has the number after the last inode's, which must not overflow.
const INODE_COUNT_MAX: u32 = u32::MAX - 1;
/// The word for a table that is not there.
const ABSENT: u64 = u64::MAX;

/// The superblock as it lies on disk.
///
/// The fields name the tables in another order than that in which they lie: inode, directory,
/// fragment, export, id, xattr. [`Superblock::parse`] checks it.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawSuperblock {
    /// [`MAGIC`].
    pub magic: U32,
    /// Number of inodes, at least 1.
    pub inode_count: U32,
    /// Modification time of the image, seconds since 1970.
    pub modification_time: U32,
    /// Bytes of a data block before compression, a power of two from 4096 to 1048576.
    pub block_size: U32,
    /// Number of fragment blocks, at most `inode_count`.
    pub fragment_count: U32,
    /// [`Compressor::number`].
    pub compressor: U16,
    /// Base-2 logarithm of `block_size`, 12 to 20.
    pub block_log: U16,
    /// [`Flags`].
    pub flags: U16,
    /// Number of user and group ids, at least 1.
    pub id_count: U16,
    /// Format version, 4.
    pub version_major: U16,
    /// Format version, 0.
    pub version_minor: U16,
    /// Inode reference of the root directory.
    pub root_inode: U64,
    /// Bytes of the image without padding.
    pub bytes_used: U64,
    /// Start of the index of the id table.
    pub id_table_start: U64,
    /// Start of the xattr id table's header, or all ones.
    pub xattr_table_start: U64,
    /// Start of the inode table, before that of the directory table.
    pub inode_table_start: U64,
    /// Start of the directory table.
    pub directory_table_start: U64,
    /// Start of the index of the fragment table, or all ones if `fragment_count` is 0.
    pub fragment_table_start: U64,
    /// Start of the index of the export table, or all ones.
    pub export_table_start: U64,
}

const _: () = {
    assert!(size_of::<RawSuperblock>() == SUPERBLOCK_SIZE);
    assert!(offset_of!(RawSuperblock, root_inode) == 32);
    assert!(offset_of!(RawSuperblock, export_table_start) == 88);
};

/// The flag word of the superblock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// Inode table stored without compression.
    pub const RAW_INODES: Self = Self(0x0001);
    /// Data blocks stored without compression.
    pub const RAW_DATA: Self = Self(0x0002);
    /// Fragment blocks stored without compression.
    pub const RAW_FRAGMENTS: Self = Self(0x0008);
    /// No tail end is in a fragment block.
    pub const NO_FRAGMENTS: Self = Self(0x0010);
    /// Every tail end is in a fragment block.
    pub const ALL_FRAGMENTS: Self = Self(0x0020);
    /// Duplicate files share their blocks.
    pub const DUPLICATES: Self = Self(0x0040);
    /// There is an export table.
    pub const EXPORTABLE: Self = Self(0x0080);
    /// Xattrs stored without compression.
    pub const RAW_XATTRS: Self = Self(0x0100);
    /// The writer left xattrs out.
    pub const NO_XATTRS: Self = Self(0x0200);
    /// Compressor options follow the superblock; the only flag that the kernel acts on.
    pub const COMPRESSOR_OPTIONS: Self = Self(0x0400);
    /// Id table stored without compression.
    pub const RAW_IDS: Self = Self(0x0800);

    /// Whether every flag of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Names of the set flags, as `coldpress info` prints them.
    pub fn names(self) -> Vec<&'static str> {
        const NAMES: [(Flags, &str); 11] = [
            (Flags::RAW_INODES, "raw-inodes"),
            (Flags::RAW_DATA, "raw-data"),
            (Flags::RAW_FRAGMENTS, "raw-fragments"),
            (Flags::NO_FRAGMENTS, "no-fragments"),
            (Flags::ALL_FRAGMENTS, "all-fragments"),
            (Flags::DUPLICATES, "duplicates"),
            (Flags::EXPORTABLE, "exportable"),
            (Flags::RAW_XATTRS, "raw-xattrs"),
            (Flags::NO_XATTRS, "no-xattrs"),
            (Flags::COMPRESSOR_OPTIONS, "compressor-options"),
            (Flags::RAW_IDS, "raw-ids"),
        ];
        NAMES
            .into_iter()
            .filter(|(flag, _)| self.contains(*flag))
            .map(|(_, name)| name)
            .collect()
    }
}

/// A superblock whose fields agree with each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Number of inodes; their numbers are 1 to this.
    pub inode_count: u32,
    /// Modification time of the image, seconds since 1970.
    pub modification_time_s: u32,
    /// Bytes of a data block before compression.
    pub block_size: BlockSize,
    /// Number of fragment blocks.
    pub fragment_count: u32,
    /// The compressor of every compressed block.
    pub compressor: Compressor,
    /// Flags.
    pub flags: Flags,
    /// Number of user and group ids, at least 1.
    pub id_count: u16,
    /// The root directory's inode.
    pub root_inode: InodeRef,
    /// Bytes of the image without padding.
    pub bytes_used: u64,
    /// Image byte at which the index of the id table starts.
    pub id_table_start: u64,
    /// Image byte of the xattr id table's header.
    pub xattr_table_start: Option<u64>,
    /// Image byte at which the inode table starts.
    pub inode_table_start: u64,
    /// Image byte at which the directory table starts.
    pub directory_table_start: u64,
    /// Image byte at which the index of the fragment table starts; some writers leave it out of an
    /// image without fragments.
    pub fragment_table_start: Option<u64>,
    /// Image byte at which the index of the export table starts.
    pub export_table_start: Option<u64>,
}

impl Superblock {
    /// Reads and checks a superblock.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if the magic or version is another, if a field is outside its range, or if the
    /// tables do not follow each other as the kernel demands (inode, directory, fragment, export,
    /// id, xattr; all inside `bytes_used`).
    pub fn parse(bytes: &[u8]) -> Result<Self, Corrupt> {
        let fail = |rule| Corrupt::new(Part::Superblock, 0, rule);
        let Ok((raw, _)) = RawSuperblock::read_from_prefix(bytes) else {
            let (needed, found) = (SUPERBLOCK_SIZE as u64, bytes.len() as u64);
            return Err(fail(Rule::Truncated { needed, found }));
        };
        let equal = |field, found: u64, expected: u64| {
            if found == expected {
                return Ok(());
            }
            Err(fail(Rule::Mismatch {
                field,
                found,
                expected,
            }))
        };
        equal("magic", raw.magic.get().into(), MAGIC.into())?;
        equal("major version", raw.version_major.get().into(), 4)?;
        equal("minor version", raw.version_minor.get().into(), 0)?;
        let block_size = BlockSize::new(raw.block_size.get())?;
        equal(
            "block log",
            raw.block_log.get().into(),
            block_size.log2().into(),
        )?;
        let number = raw.compressor.get();
        let Some(compressor) = Compressor::from_number(number) else {
            return Err(fail(Rule::Unsupported {
                field: "compressor",
                found: number.into(),
            }));
        };
        let superblock = Self {
            inode_count: raw.inode_count.get(),
            modification_time_s: raw.modification_time.get(),
            block_size,
            fragment_count: raw.fragment_count.get(),
            compressor,
            flags: Flags(raw.flags.get()),
            id_count: raw.id_count.get(),
            root_inode: InodeRef::parse(raw.root_inode.get(), Part::Superblock, 0)?,
            bytes_used: raw.bytes_used.get(),
            id_table_start: raw.id_table_start.get(),
            xattr_table_start: present(raw.xattr_table_start.get()),
            inode_table_start: raw.inode_table_start.get(),
            directory_table_start: raw.directory_table_start.get(),
            fragment_table_start: present(raw.fragment_table_start.get()),
            export_table_start: present(raw.export_table_start.get()),
        };
        superblock.check_counts()?;
        superblock.check_tables()?;
        Ok(superblock)
    }

    fn check_counts(&self) -> Result<(), Corrupt> {
        let range = |field, found: u32, low: u64, high: u32| {
            let (found, allowed) = (found.into(), low..=high.into());
            Corrupt::check_range(Part::Superblock, 0, field, found, allowed)
        };
        range("inode count", self.inode_count, 1, INODE_COUNT_MAX)?;
        range("id count", self.id_count.into(), 1, u16::MAX.into())?;
        // A fragment block holds at least one file's tail end.
        range("fragment count", self.fragment_count, 0, self.inode_count)
    }

    /// Each table starts at or after the one before it; inode before directory strictly.
    fn check_tables(&self) -> Result<(), Corrupt> {
        let starts = [
            ("inode table start", Some(self.inode_table_start)),
            ("directory table start", Some(self.directory_table_start)),
            ("fragment table start", self.fragment_table_start),
            ("export table start", self.export_table_start),
            ("id table start", Some(self.id_table_start)),
            ("xattr table start", self.xattr_table_start),
            ("bytes used", Some(self.bytes_used)),
        ];
        let mut low = SUPERBLOCK_SIZE as u64;
        for (field, start) in starts {
            let Some(found) = start else { continue };
            // The kernel keeps positions in signed 64-bit integers.
            let allowed = low..=i64::MAX.unsigned_abs();
            Corrupt::check_range(Part::Superblock, 0, field, found, allowed)?;
            let strict = field == "inode table start";
            low = found.saturating_add(u64::from(strict));
        }
        if self.fragment_count > 0 && self.fragment_table_start.is_none() {
            let rule = Rule::Mismatch {
                field: "fragment count (there is no fragment table)",
                found: self.fragment_count.into(),
                expected: 0,
            };
            return Err(Corrupt::new(Part::Superblock, 0, rule));
        }
        Ok(())
    }

    /// The 96 bytes on disk.
    pub fn write(&self) -> [u8; SUPERBLOCK_SIZE] {
        let raw = RawSuperblock {
            magic: MAGIC.into(),
            inode_count: self.inode_count.into(),
            modification_time: self.modification_time_s.into(),
            block_size: self.block_size.bytes().into(),
            fragment_count: self.fragment_count.into(),
            compressor: self.compressor.number().into(),
            block_log: self.block_size.log2().into(),
            flags: self.flags.0.into(),
            id_count: self.id_count.into(),
            version_major: 4.into(),
            version_minor: 0.into(),
            root_inode: self.root_inode.word().into(),
            bytes_used: self.bytes_used.into(),
            id_table_start: self.id_table_start.into(),
            xattr_table_start: self.xattr_table_start.unwrap_or(ABSENT).into(),
            inode_table_start: self.inode_table_start.into(),
            directory_table_start: self.directory_table_start.into(),
            fragment_table_start: self.fragment_table_start.unwrap_or(ABSENT).into(),
            export_table_start: self.export_table_start.unwrap_or(ABSENT).into(),
        };
        let mut bytes = [0; SUPERBLOCK_SIZE];
        bytes.copy_from_slice(raw.as_bytes());
        bytes
    }
}

fn present(start: u64) -> Option<u64> {
    (start != ABSENT).then_some(start)
}
