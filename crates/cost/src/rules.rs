//! What readers inside the kernel differ in.

use crate::reader::{Decompressors, Reader};

/// How a reader inside the kernel behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) decompressors: Decompressors,
    pub(crate) fragment_slots: usize,
    pub(crate) metadata_slots: usize,
    /// Whether the length of a metadata block is read before the block.
    pub(crate) reads_headers: bool,
    /// Whether windows grow to whole blocks, with pages past the end of a file, and readahead to
    /// four blocks.
    pub(crate) fills_blocks: bool,
    /// Whether blocks that follow each other are one read.
    pub(crate) merges: bool,
    /// What the process keeps that the kernel asks, if it asks one.
    pub(crate) kept_bytes: Option<u64>,
}

/// More than any image has.
const ALL: usize = usize::MAX;

impl Rules {
    pub(crate) fn of(reader: &Reader) -> Self {
        match *reader {
            Reader::Kernel {
                decompressors,
                fragment_slots,
                metadata_slots,
            } => Self {
                decompressors,
                fragment_slots,
                metadata_slots,
                reads_headers: true,
                fills_blocks: true,
                merges: false,
                kept_bytes: None,
            },
            Reader::Fuse { cache_bytes } => Self {
                kept_bytes: Some(cache_bytes),
                ..Self::of(&Reader::Erofs)
            },
            Reader::Erofs | Reader::Unpacked => Self {
                decompressors: Decompressors::PerCpu,
                fragment_slots: ALL,
                metadata_slots: ALL,
                reads_headers: false,
                fills_blocks: false,
                merges: true,
                kept_bytes: None,
            },
        }
    }
}
