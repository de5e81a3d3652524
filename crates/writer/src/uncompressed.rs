//! What of an image is stored as it is, although there is a compressor.

use coldpress_assemble::Table;
use coldpress_format::Flags;

use crate::options::Options;

/// The parts of an image that are not compressed, as mksquashfs divides them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "five switches that do not depend on each other"
)]
pub struct Uncompressed {
    /// The inode table, the directory table and the export table (mksquashfs: `-noI`, which
    /// leaves the id table uncompressed as well).
    pub inodes: bool,
    /// The id table (`-noId`).
    pub ids: bool,
    /// Data blocks (`-noD`).
    pub data: bool,
    /// Fragment blocks and the fragment table (`-noF`).
    pub fragments: bool,
    /// Extended attributes (`-noX`).
    pub xattrs: bool,
}

impl Uncompressed {
    /// Everything.
    pub const ALL: Self = Self {
        inodes: true,
        ids: true,
        data: true,
        fragments: true,
        xattrs: true,
    };

    /// Whether a table is among it.
    pub fn has(self, table: Table) -> bool {
        match table {
            Table::Inodes | Table::Directories | Table::Export => self.inodes,
            Table::Fragments => self.fragments,
            Table::Ids => self.ids,
            Table::XattrPairs | Table::XattrIds => self.xattrs,
        }
    }

    /// What the superblock says of it. Where inodes are uncompressed ids are as well, and
    /// squashfs-tools say nothing of them then.
    pub(crate) fn flags(self) -> Flags {
        let Self {
            inodes,
            ids,
            data,
            fragments,
            xattrs,
        } = self;
        [
            (inodes, Flags::RAW_INODES),
            (ids && !inodes, Flags::RAW_IDS),
            (data, Flags::RAW_DATA),
            (fragments, Flags::RAW_FRAGMENTS),
            (xattrs, Flags::RAW_XATTRS),
        ]
        .into_iter()
        .filter(|(is_raw, _)| *is_raw)
        .fold(Flags::default(), |flags, (_, flag)| flags.with(flag))
    }
}

impl Options {
    /// What is stored as it is: without a compressor everything, and ids wherever inodes are.
    pub fn stored(&self) -> Uncompressed {
        if self.compression.is_none() {
            return Uncompressed::ALL;
        }
        let asked = self.uncompressed;
        Uncompressed {
            ids: asked.ids || asked.inodes,
            ..asked
        }
    }
}
