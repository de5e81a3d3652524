//! What a written image holds, in figures.

use std::collections::BTreeMap;

use coldpress_layout::NodeId;

use crate::warning::Warning;

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Bytes of the image, padding included.
    pub image_bytes: u64,
    /// Bytes of the image without the padding, as its superblock says.
    pub used_bytes: u64,
    /// Number of inodes.
    pub inode_count: u32,
    /// Bytes of all files, each once.
    pub data_bytes: u64,
    /// Bytes of the data area.
    pub stored_bytes: u64,
    /// Bytes of the tables.
    pub table_bytes: u64,
    /// The inode table.
    pub inode_table: TableSize,
    /// The directory table.
    pub directory_table: TableSize,
    /// Xattrs and their id table; 0 without any.
    pub xattr_table: TableSize,
    /// Number of fragment blocks.
    pub fragment_count: u32,
    /// Files that share the data of another.
    pub duplicate_files: u64,
    /// Bytes of such files.
    pub duplicate_bytes: u64,
    /// Bytes that sparse blocks save.
    pub sparse_bytes: u64,
    /// Bytes whose blocks were copied from another image instead of compressed.
    pub copied_bytes: u64,
    /// Files that could not be read as they were found; the image holds what could.
    pub changed: BTreeMap<NodeId, Warning>,
}

/// The size of a table of metadata blocks, their headers included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSize {
    /// Bytes in the image.
    pub stored_bytes: u64,
    /// What they would be without compression.
    pub content_bytes: u64,
}
