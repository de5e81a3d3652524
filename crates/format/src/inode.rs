//! Inodes: everything about a file but its name and its bytes.
//!
//! There are seven types, each in a basic and an extended form; which form is on disk follows
//! from the values ([`Inode::write`] takes the basic one where it can hold them), so this type has
//! one form only. Field rules: docs/format.md, "Inodes".

mod raw;
mod read;
mod write;

pub use raw::{
    RawDevice, RawDirectory, RawExtendedDevice, RawExtendedDirectory, RawExtendedFile,
    RawExtendedIpc, RawFile, RawInodeHeader, RawIpc, RawSymlink,
};
pub use read::Extra;

use crate::METADATA_BLOCK_SIZE;
use crate::block::{BlockSize, BlockWord};
use crate::directory::IndexEntry;
use crate::error::{Corrupt, Part};

/// The last byte of a full metadata block.
pub(crate) const OFFSET_MAX: u64 = METADATA_BLOCK_SIZE as u64 - 1;

/// Where an inode lies: the metadata block, and the byte inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InodeRef {
    /// Start of the metadata block, in bytes from the start of the inode table.
    pub block_start: u32,
    /// Byte in the decompressed block, below 8192.
    pub offset: u16,
}

impl InodeRef {
    /// Reads a 48-bit reference.
    ///
    /// * `part`, `start`: where the reference stands, for errors.
    ///
    /// # Errors
    ///
    /// [`Corrupt`] if the offset is outside a metadata block or the block start over 32 bits.
    pub fn parse(word: u64, part: Part, start: u64) -> Result<Self, Corrupt> {
        let range = |field, found, high| Corrupt::check_range(part, start, field, found, 0..=high);
        range("inode block start", word >> 16, u32::MAX.into())?;
        let [o0, o1, b0, b1, b2, b3, ..] = word.to_le_bytes();
        let offset = u16::from_le_bytes([o0, o1]);
        range("inode offset", offset.into(), OFFSET_MAX)?;
        Ok(Self {
            block_start: u32::from_le_bytes([b0, b1, b2, b3]),
            offset,
        })
    }

    /// The reference as a 48-bit word.
    pub fn word(self) -> u64 {
        u64::from(self.block_start) << 16 | u64::from(self.offset)
    }
}

/// An inode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inode {
    /// Permission bits, 12 of them.
    pub mode: u16,
    /// Index of the owner in the id table.
    pub uid_index: u16,
    /// Index of the group in the id table.
    pub gid_index: u16,
    /// Modification time, seconds since 1970.
    pub mtime_s: u32,
    /// Inode number, from 1.
    pub number: u32,
    /// Number of directory entries that name it; for a directory 2 and its subdirectories.
    pub link_count: u32,
    /// Index in the xattr id table.
    pub xattr: Option<u32>,
    /// What it is.
    pub body: Body,
}

/// What an inode is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A directory.
    Directory(Directory),
    /// A regular file.
    File(File),
    /// A symbolic link with its target.
    Symlink(Vec<u8>),
    /// A block device.
    BlockDevice(DeviceNumber),
    /// A character device.
    CharDevice(DeviceNumber),
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
}

impl Body {
    /// The type as directory entries state it.
    pub const fn kind(&self) -> InodeKind {
        match self {
            Self::Directory(_) => InodeKind::Directory,
            Self::File(_) => InodeKind::File,
            Self::Symlink(_) => InodeKind::Symlink,
            Self::BlockDevice(_) => InodeKind::BlockDevice,
            Self::CharDevice(_) => InodeKind::CharDevice,
            Self::Fifo => InodeKind::Fifo,
            Self::Socket => InodeKind::Socket,
        }
    }
}

/// The seven types, by the number of their basic form; the extended form is 7 more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum InodeKind {
    /// A directory.
    Directory = 1,
    /// A regular file.
    File = 2,
    /// A symbolic link.
    Symlink = 3,
    /// A block device.
    BlockDevice = 4,
    /// A character device.
    CharDevice = 5,
    /// A named pipe.
    Fifo = 6,
    /// A socket.
    Socket = 7,
}

impl InodeKind {
    /// Every type, by number.
    pub const ALL: [Self; 7] = [
        Self::Directory,
        Self::File,
        Self::Symlink,
        Self::BlockDevice,
        Self::CharDevice,
        Self::Fifo,
        Self::Socket,
    ];
    const EXTENDED: u16 = 7;

    /// The type with this basic number.
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u16 == number)
    }
}

/// Where a directory's listing lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// Start of the metadata block in which the listing begins, from the directory table's start.
    pub block_start: u32,
    /// Byte in that block, below 8192.
    pub offset: u16,
    /// Bytes of the listing; on disk 3 more, for the `.` and `..` that are not stored.
    pub listing_bytes: u32,
    /// Inode number of the parent; for the root one more than there are inodes.
    pub parent: u32,
    /// Names by which a lookup may start in the middle of the listing.
    pub index: Vec<IndexEntry>,
}

/// The data of a regular file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Image byte of the first data block.
    pub start: u64,
    /// Length of the file.
    pub size_bytes: u64,
    /// Bytes that sparse blocks save: what `st_blocks` is less by.
    pub sparse_bytes: u64,
    /// Where the tail end lies, if in a fragment block.
    pub tail: Option<TailEnd>,
    /// One word for each data block; without a tail end the last may be short.
    pub blocks: Vec<BlockWord>,
}

impl File {
    /// How many data blocks it has by its length, whether its block list was read or not.
    pub fn block_count(&self, block_size: BlockSize) -> u64 {
        let has_short = self.tail.is_none() && block_size.tail_bytes(self.size_bytes) > 0;
        let full_blocks = block_size.full_blocks(self.size_bytes);
        full_blocks.saturating_add(u64::from(has_short))
    }
}

/// A tail end in a fragment block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailEnd {
    /// Index in the fragment table.
    pub fragment: u32,
    /// Byte in the decompressed fragment block.
    pub offset: u32,
}

/// A device number, in Linux's 32-bit encoding on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceNumber {
    /// Major number, below 4096.
    pub major: u32,
    /// Minor number, below 1048576.
    pub minor: u32,
}

impl DeviceNumber {
    /// The number as the format encodes it; `None` if a part is too large.
    pub const fn encode(self) -> Option<u32> {
        if self.major >= 1 << 12 || self.minor >= 1 << 20 {
            return None;
        }
        Some(self.major << 8 | (self.minor & 0xff) | (self.minor & !0xff) << 12)
    }

    /// The number that `word` encodes.
    pub const fn decode(word: u32) -> Self {
        Self {
            major: word >> 8 & 0xfff,
            minor: (word & 0xff) | (word >> 12 & 0xfff00),
        }
    }
}
