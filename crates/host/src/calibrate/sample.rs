//! Images in memory, made to be measured with.

use std::fs::File;

/// Directories of a sample, and empty files in each of them.
const NAMES_EACH: u32 = 64;

/// An image of the same content as the other samples: the file [`Sample::DATA`], whose blocks are
/// filled, and empty files at [`Sample::names`], which are looked up.
#[derive(Debug)]
pub struct Sample<'a> {
    /// Name of the compressor; `None` if all blocks are stored as they are, metadata too.
    pub compressor: Option<&'a str>,
    /// Bytes of a block.
    pub block_bytes: u32,
    /// Bytes of [`Sample::DATA`], a multiple of 1 MiB, so that all its blocks are full.
    pub data_bytes: u64,
    /// Stored bytes of it for each byte of content.
    pub ratio: f64,
    /// The image, best in memory: [`crate::memory_file`].
    pub image: &'a File,
}

impl Sample<'_> {
    /// The file whose blocks are filled, in the root directory.
    pub const DATA: &'static str = "data";

    /// The paths that are looked up, in the order of their directories.
    pub fn names() -> impl Iterator<Item = String> {
        (0..NAMES_EACH).flat_map(|directory| {
            (0..NAMES_EACH).map(move |file| format!("names/{directory:02}/{file:02}"))
        })
    }

    /// Blocks of [`Sample::DATA`].
    pub(super) fn blocks(&self) -> u64 {
        self.data_bytes / u64::from(self.block_bytes.max(1))
    }
}
