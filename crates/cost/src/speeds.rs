//! How fast the reader of an image does its work.

use std::collections::BTreeMap;

use coldpress_format::{BlockSize, Compressor};

/// What decompressing blocks of one compressor and one block size takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Bytes that come out in a second.
    pub bytes_per_s: f64,
    /// What each block takes besides, in s: setting up a stream and its tables.
    pub block_s: f64,
}

/// What a reader takes for what it does, by compressor and block size.
#[derive(Clone, Debug, PartialEq)]
pub struct Speeds {
    /// By the compressor's number and the bytes of a block; sizes in between are interpolated.
    decompression: BTreeMap<(u16, u32), Speed>,
    /// Copying a block that is stored to pages of files, or one that is in a cache, in bytes/s.
    pub copy_bytes_per_s: f64,
    /// Bringing a page of a file into memory, besides what fills it, in s.
    pub page_s: f64,
    /// A lookup of a name: searching a listing and reading an inode whose blocks are in memory, in s.
    pub lookup_s: f64,
    /// A fault, or a call that reads, that finds its pages absent, in s.
    pub miss_s: f64,
    /// A request that the kernel hands to a process and the answer to it, in s.
    pub fuse_request_s: f64,
}

impl Speeds {
    /// Replaces what is known of one compressor and block size.
    pub fn set(&mut self, compressor: Compressor, block_size: BlockSize, speed: Speed) {
        todo!()
    }

    /// What decompressing a block takes, in s (equation 5).
    ///
    /// * `block_bytes`: what a block may hold: 8192 of metadata.
    /// * `len_bytes`: what it does hold.
    pub fn decompression_s(&self, compressor: Compressor, block_bytes: u32, len_bytes: u32) -> f64 {
        todo!()
    }
}
