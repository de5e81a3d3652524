//! What a start would take.

use serde::Serialize;

use crate::device::as_f64;
use crate::medium::Medium;

/// What a start would read and take.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// Of the reads, those of the hash tree of dm-verity; none of them is of metadata.
    pub hash_reads: u64,
    /// Of the bytes, those of the hash tree.
    pub hash_bytes: u64,
    /// What the blocks that were read and decompressed hold, each time.
    pub decompressed_bytes: u64,
    /// Pages of files that come into memory, in bytes; with those past the ends of files.
    pub page_cache_bytes: u64,
    /// Where the time goes. Sums over all threads: more than `time_s` where they overlap.
    pub by_cause: Causes,
    /// Paths of the sequence that the geometry does not have, each once, in their order.
    #[serde(skip)]
    pub missing: Vec<Vec<u8>>,
}

impl Prediction {
    /// What the time is spent on most. Of waiting, it is the number of reads or their bytes,
    /// whichever the medium takes longer for.
    pub fn limit(&self, medium: &Medium) -> Limit {
        let causes = &self.by_cause;
        let again_s = causes.fragments_again_s + causes.metadata_again_s;
        let waiting_s = causes.data_wait_s + causes.metadata_wait_s + again_s;
        let working_s = causes.decompress_s + causes.request_s;
        if causes.compute_s >= waiting_s.max(working_s) {
            return Limit::Program;
        }
        if working_s >= waiting_s {
            return Limit::Decompression;
        }
        let read_s = medium
            .reads_per_s
            .map_or(0.0, |reads_per_s| 1.0 / reads_per_s);
        let bytes_per_s = medium.limit_bytes_per_s.unwrap_or(f64::INFINITY);
        let requests_s = as_f64(self.reads) * read_s.max(medium.request_s);
        let bytes_s = as_f64(self.read_bytes) / bytes_per_s.min(medium.bandwidth_bytes_per_s);
        if requests_s >= bytes_s {
            Limit::Requests
        } else {
            Limit::Bandwidth
        }
    }
}

/// Time by what it is spent on, in s, added up over threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Causes {
    /// Waiting for data and fragment blocks, the first time that each is read.
    pub data_wait_s: f64,
    /// Waiting for metadata blocks, the first time.
    pub metadata_wait_s: f64,
    /// Reading fragment blocks again that made room for others, with their decompression.
    pub fragments_again_s: f64,
    /// Reading metadata blocks again that made room for others, with their decompression.
    pub metadata_again_s: f64,
    /// Decompressing data blocks, and fragment and metadata blocks the first time; with copying to
    /// pages.
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
