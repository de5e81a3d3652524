//! What was measured, and the text that it is kept as.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Machine;

/// What [`Calibration::write`] writes and [`Calibration::parse`] reads.
const VERSION: u32 = 1;

/// A text has some 10 KB; more than this is none.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// What a machine takes to read, to decompress and to find.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Version of the text.
    version: u32,
    /// The machine that was measured.
    pub machine: CalibratedMachine,
    /// Media by name: `calibrated`, or that of a preset whose throttle was measured.
    pub media: BTreeMap<String, MediumFigures>,
    /// Memory, if it was measured.
    pub memory: Option<MemoryFigures>,
    /// The reader of images, if it was measured.
    pub reader: Option<ReaderFigures>,
}

/// What figures depend on, as [`Machine`] tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalibratedMachine {
    /// Release of the kernel.
    pub kernel: String,
    /// Architecture.
    pub architecture: String,
    /// Model of the first processor.
    pub cpu_model: String,
    /// Processors that the process could use.
    pub cores: u32,
    /// With how many threads the kernel says that it unpacks, as [`Machine::squashfs_decompressor`].
    pub squashfs_decompressor: String,
}

/// A medium. Latencies and rates are medians.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MediumFigures {
    /// When it was measured, milliseconds since 1970.
    pub made_unix_ms: u64,
    /// What was read: a block device, or a file of the measurement's own on the file system of this path.
    pub path: String,
    /// One read of 4 KiB at a random place, nothing else in flight.
    pub request_s: f64,
    /// One read of 128 KiB at a random place, nothing else in flight.
    pub large_request_s: f64,
    /// Reads of 1 MiB one behind the other.
    pub bandwidth_bytes_per_s: f64,
    /// Reads of 4 KiB at random places, [`MediumFigures::reads_in_flight`] at a time.
    pub reads_per_s: f64,
    /// Threads that read at the same time.
    pub reads_in_flight: u32,
    /// How far the kernel reads ahead on it, if it says so.
    pub read_ahead_bytes: Option<u64>,
}

/// Memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryFigures {
    /// When it was measured, milliseconds since 1970.
    pub made_unix_ms: u64,
    /// Reading pages that are in the page cache.
    pub copy_bytes_per_s: f64,
    /// The first touch of a mapped page that is in the page cache; with it the kernel maps those around it.
    pub fault_s: f64,
    /// Pages that one such touch maps.
    pub pages_per_fault: f64,
}

/// Whoever reads images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReaderFigures {
    /// When it was measured, milliseconds since 1970.
    pub made_unix_ms: u64,
    /// Whether it is the kernel. If not, blocks were decompressed in this process, which is another program with other
    /// speeds, and the figures of the page cache are those of a file in memory.
    pub is_kernel: bool,
    /// A page of a block that is stored as it is: taken from memory, filled and put into the page cache. The same is needed for
    /// each page of a compressed block, besides its decompression.
    pub fill_page_s: f64,
    /// What a stored block takes besides, however large.
    pub stored_block_s: f64,
    /// The first `stat` of a path of an image whose metadata is not compressed; `None` if it was not measured.
    pub lookup_s: Option<f64>,
    /// How often 8 KiB of metadata were read for these, per path.
    pub lookup_reads: Option<f64>,
    /// Threads of the measurement with several.
    pub threads: u32,
    /// How many times as fast as one of them they decompress the same image together: 1 where the kernel has one
    /// decompressor for each mount.
    pub threads_gain: f64,
    /// Decompression, by name and block size.
    pub decompression: Vec<Decompression>,
}

/// Decompression by one compressor, on one processor: what a compressed block takes longer than a stored one, and reading it
/// not counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decompression {
    /// Name of the compressor, as in image headers: `gzip`, `lzo`, `lz4`, `xz`, `zstd`.
    pub compressor: String,
    /// What each block takes, however large: the intercept of the line through [`Decompression::blocks`].
    pub block_s: f64,
    /// Uncompressed bytes per second besides: the slope of that line.
    pub bytes_per_s: f64,
    /// The medians themselves, from small blocks to large ones.
    pub blocks: Vec<BlockTime>,
}

/// Blocks of one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BlockTime {
    /// Bytes of a block before compression.
    pub block_bytes: u32,
    /// Decompression of one block.
    pub time_s: f64,
    /// Stored bytes for each byte of content.
    pub ratio: f64,
}

/// Why a text is not a calibration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotACalibration {
    /// It is not JSON, or has other fields.
    #[error("it is not the JSON of a calibration: {0}")]
    Json(#[from] serde_json::Error),
    /// It has another version.
    #[error("its version is {found}, this program knows {VERSION}")]
    Version {
        /// The version.
        found: u64,
    },
    /// A figure cannot be.
    #[error("`{name}` is {found}; it must be {rule}")]
    Figure {
        /// The name of the field, with those it is in.
        name: String,
        /// Its value.
        found: f64,
        /// What it must be.
        rule: &'static str,
    },
    /// It is too long.
    #[error("it has {found_bytes} bytes, a calibration has at most {MAX_TEXT_BYTES}")]
    Length {
        /// Its length.
        found_bytes: usize,
    },
}

impl From<&Machine> for CalibratedMachine {
    fn from(machine: &Machine) -> Self {
        Self {
            kernel: machine.kernel.clone(),
            architecture: machine.architecture.clone(),
            cpu_model: machine.cpu_model.clone(),
            cores: machine.cores,
            squashfs_decompressor: machine.squashfs_decompressor.clone(),
        }
    }
}

impl Calibration {
    /// Nothing measured yet.
    pub fn of(machine: &Machine) -> Self {
        Self {
            version: VERSION,
            machine: machine.into(),
            media: BTreeMap::new(),
            memory: None,
            reader: None,
        }
    }

    /// Whether the machine is still the one that was measured: the same processor, kernel and number of processors.
    pub fn is_of(&self, machine: &Machine) -> bool {
        self.machine == machine.into()
    }
}
