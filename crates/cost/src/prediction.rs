//! What a start would take.

/// What a start would read and take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// From the first access to the end, in s.
    pub time_s: f64,
    /// Reads of the device.
    pub reads: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Of the reads, those of metadata.
    pub metadata_reads: u64,
    /// Of the bytes, those of metadata.
    pub metadata_bytes: u64,
    /// What the blocks that were read and decompressed hold, each time.
    pub decompressed_bytes: u64,
    /// Pages of files that come into memory, in bytes; with those past the ends of files.
    pub page_cache_bytes: u64,
    /// Where the time goes. Sums over all threads: more than `time_s` where they overlap.
    pub by_cause: Causes,
    /// Paths of the demand that the geometry does not have, each once, in their order.
    pub missing: Vec<Vec<u8>>,
}

/// Time by what it is spent on, in s, added up over threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Causes {
    /// Waiting for data and fragment blocks, the first time that each is read.
    pub data_wait_s: f64,
    /// Waiting for metadata blocks, the first time.
    pub metadata_wait_s: f64,
    /// Reading fragment blocks again that made room for others, with their decompression.
    pub fragments_again_s: f64,
    /// Reading metadata blocks again that made room for others, with their decompression.
    pub metadata_again_s: f64,
    /// Decompressing data blocks, and fragment and metadata blocks the first time; with copying to pages.
    pub decompress_s: f64,
    /// Requests to a reader in user space.
    pub request_s: f64,
    /// The program itself.
    pub compute_s: f64,
}

/// What decides how long a start takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Its own work.
    Program,
    /// Decompression.
    Decompression,
    /// The number of reads.
    Requests,
    /// The bytes that are read.
    Bandwidth,
}

impl Limit {
    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Program => "the program itself",
            Self::Decompression => "decompression",
            Self::Requests => "the number of reads",
            Self::Bandwidth => "the bytes that are read",
        }
    }
}
