//! `SquashFS` 4.0 records: bytes to checked types and back.
//!
//! Each module holds one record of the format: the wire structure of little-endian integers, the
//! checked type, `parse` and `write`. Sentinels, biases (`count - 1`) and packed bits are removed
//! in `parse` and restored in `write`, nowhere else. The tables of docs/format.md state the same
//! layout, and a test compares them.
//!
//! Here is no I/O, no thread and no compression. Bytes are hostile: `parse` gives a value or a
//! [`Corrupt`] that says which structure at which byte breaks which rule, and nothing is
//! allocated from a size that was not checked against the bytes at hand.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::indexing_slicing,
        clippy::cast_possible_truncation,
        clippy::arithmetic_side_effects,
        clippy::unwrap_used
    )
)]

mod block;
mod compressor;
mod directory;
mod error;
mod fragment;
mod inode;
mod metadata;
mod start_pack;
mod superblock;
mod xattr;

pub use block::{BlockSize, BlockWord};
pub use compressor::{
    Compressor, CompressorOptions, RawGzipOptions, RawOptionPair, RawZstdOptions,
};
pub use directory::{
    Entry, EntryRef, EntrySpan, IndexEntry, Listing, NAME_MAX_BYTES, RawDirectoryEntry,
    RawDirectoryHeader, RawIndexEntry, append_listing, is_legal_name, listing_spans, parse_listing,
    write_listing,
};
pub use error::{Corrupt, Part, Rule};
pub use fragment::{Fragment, RawFragment};
pub use inode::{
    Body, DeviceNumber, Directory, Extra, File, Inode, InodeKind, InodeRef, RawDevice,
    RawDirectory, RawExtendedDevice, RawExtendedDirectory, RawExtendedFile, RawExtendedIpc,
    RawFile, RawInodeHeader, RawIpc, RawSymlink, TailEnd,
};
pub use metadata::{MetadataHeader, table_blocks};
pub use start_pack::{
    PACK_MAGIC, PACK_PAGE_BYTES, PackFile, PackHeader, PackIndex, PackPiece, PackRun, RawPackFile,
    RawPackHeader, RawPackIndex, RawPackPiece, RawPackRun, pack_start, stated_pack_bytes,
};
pub use superblock::{Flags, MAGIC, PADDING_SIZE, RawSuperblock, SUPERBLOCK_SIZE, Superblock};
pub use xattr::{
    RawXattrId, RawXattrKey, RawXattrTable, RawXattrValue, XattrId, XattrPrefix, XattrTable,
};

/// Bytes of metadata in a full metadata block, before compression.
pub const METADATA_BLOCK_SIZE: usize = 8192;
