//! Inodes as they lie on disk. Lists that follow the fixed part are not in these structures.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The start of every inode.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawInodeHeader {
    /// Type, 1 to 14.
    pub kind: U16,
    /// Permission bits.
    pub mode: U16,
    /// Index of the owner in the id table.
    pub uid_index: U16,
    /// Index of the group in the id table.
    pub gid_index: U16,
    /// Modification time, seconds since 1970.
    pub mtime: U32,
    /// Inode number.
    pub number: U32,
}

/// Type 1: a directory.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawDirectory {
    /// Start of the listing's metadata block.
    pub block_start: U32,
    /// 2 and the number of subdirectories.
    pub link_count: U32,
    /// Bytes of the listing and 3.
    pub size: U16,
    /// Byte of the listing in its metadata block.
    pub offset: U16,
    /// Inode number of the parent.
    pub parent: U32,
}

/// Type 8: a directory with xattrs, an index, or a long listing. Index entries follow.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawExtendedDirectory {
    /// 2 and the number of subdirectories.
    pub link_count: U32,
    /// Bytes of the listing and 3.
    pub size: U32,
    /// Start of the listing's metadata block.
    pub block_start: U32,
    /// Inode number of the parent.
    pub parent: U32,
    /// Number of index entries.
    pub index_count: U16,
    /// Byte of the listing in its metadata block.
    pub offset: U16,
    /// Index in the xattr id table, or all ones.
    pub xattr: U32,
}

/// Type 2: a regular file. The block list follows.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawFile {
    /// Image byte of the first data block.
    pub start: U32,
    /// Index in the fragment table, or all ones.
    pub fragment: U32,
    /// Byte of the tail end in its fragment block.
    pub tail_offset: U32,
    /// Length of the file.
    pub size: U32,
}

/// Type 9: a file with hard links, xattrs, sparse blocks, or 64-bit numbers. The block list
/// follows.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawExtendedFile {
    /// Image byte of the first data block.
    pub start: U64,
    /// Length of the file.
    pub size: U64,
    /// Bytes that sparse blocks save.
    pub sparse: U64,
    /// Number of directory entries that name the file.
    pub link_count: U32,
    /// Index in the fragment table, or all ones.
    pub fragment: U32,
    /// Byte of the tail end in its fragment block.
    pub tail_offset: U32,
    /// Index in the xattr id table, or all ones.
    pub xattr: U32,
}

/// Types 3 and 10: a symbolic link. The target follows, in type 10 then the xattr index.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawSymlink {
    /// Number of directory entries that name it.
    pub link_count: U32,
    /// Bytes of the target.
    pub target_size: U32,
}

/// Types 4 and 5: a device.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawDevice {
    /// Number of directory entries that name it.
    pub link_count: U32,
    /// Device number in Linux's encoding.
    pub number: U32,
}

/// Types 11 and 12: a device with xattrs.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawExtendedDevice {
    /// Number of directory entries that name it.
    pub link_count: U32,
    /// Device number in Linux's encoding.
    pub number: U32,
    /// Index in the xattr id table, or all ones.
    pub xattr: U32,
}

/// Types 6 and 7: a named pipe or socket.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawIpc {
    /// Number of directory entries that name it.
    pub link_count: U32,
}

/// Types 13 and 14: a named pipe or socket with xattrs.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawExtendedIpc {
    /// Number of directory entries that name it.
    pub link_count: U32,
    /// Index in the xattr id table, or all ones.
    pub xattr: U32,
}

const _: () = {
    assert!(size_of::<RawInodeHeader>() == 16);
    assert!(size_of::<RawDirectory>() == 16);
    assert!(size_of::<RawExtendedDirectory>() == 24);
    assert!(size_of::<RawFile>() == 16);
    assert!(size_of::<RawExtendedFile>() == 40);
    assert!(size_of::<RawSymlink>() == 8);
    assert!(size_of::<RawDevice>() == 8);
    assert!(size_of::<RawExtendedDevice>() == 12);
    assert!(size_of::<RawIpc>() == 4);
    assert!(size_of::<RawExtendedIpc>() == 8);
};
