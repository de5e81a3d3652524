//! What was measured, and the text that it is kept as.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fit::Line;
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
    /// With how many threads the kernel says that it unpacks, as
    /// [`Machine::squashfs_decompressor`].
    pub squashfs_decompressor: String,
}

/// A medium. Times and rates are medians of batches, as the kernel lets throttled reads go in
/// bursts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MediumFigures {
    /// When it was measured, milliseconds since 1970.
    pub made_unix_ms: u64,
    /// What was read: a block device, or a file of the measurement's own on the file system of this
    /// path.
    pub path: String,
    /// One read of 4 KiB at a random place, nothing else in flight.
    pub request_s: f64,
    /// One read of 128 KiB at a random place, nothing else in flight.
    pub large_request_s: f64,
    /// One read of 1 MiB at a random place, nothing else in flight.
    pub huge_request_s: f64,
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
    /// The first touch of a mapped page that is in the page cache; with it the kernel maps those
    /// around it.
    pub fault_s: f64,
    /// Pages that one such touch maps.
    pub pages_per_fault: f64,
}

/// Whoever reads images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReaderFigures {
    /// When it was measured, milliseconds since 1970.
    pub made_unix_ms: u64,
    /// Whether it is the kernel. If not, blocks were decompressed in this process, which is another
    /// program with other speeds, and the figures of the page cache are those of a file in memory.
    pub is_kernel: bool,
    /// A page of a block that is stored as it is: taken from memory, filled and put into the page
    /// cache. The same is needed for each page of a compressed block, besides its decompression.
    pub fill_page_s: f64,
    /// What a stored block takes besides, however large.
    pub stored_block_s: f64,
    /// The first `stat` of a path of an image whose metadata is not compressed; `None` if it was
    /// not measured.
    pub lookup_s: Option<f64>,
    /// How often 8 KiB of metadata were read for these, per path.
    pub lookup_reads: Option<f64>,
    /// Threads of the measurement with several.
    pub threads: u32,
    /// How many times as fast as one of them they decompress the same image together: 1 where the
    /// kernel has one decompressor for each mount.
    pub threads_gain: f64,
    /// Decompression, by name and block size.
    pub decompression: Vec<Decompression>,
}

/// Decompression by one compressor, on one processor: what a compressed block takes longer than a
/// stored one, and reading it not counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decompression {
    /// Name of the compressor, as in image headers: `gzip`, `lzo`, `lz4`, `xz`, `zstd`.
    pub compressor: String,
    /// What each block takes, however large: the intercept of the line through
    /// [`Decompression::blocks`].
    pub block_s: f64,
    /// Uncompressed bytes per second besides: the slope of that line.
    pub bytes_per_s: f64,
    /// The times themselves, from small blocks to large ones.
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

    /// Whether the machine is still the one that was measured: the same kernel, processor and
    /// number of processors.
    pub fn is_of(&self, machine: &Machine) -> bool {
        self.machine == machine.into()
    }

    /// Writes it as JSON, with sorted names and a line end.
    ///
    /// # Errors
    ///
    /// [`NotACalibration::Figure`] if a figure cannot be, which would not be read again.
    pub fn write(&self) -> Result<String, NotACalibration> {
        self.check()?;
        let value = serde_json::to_value(self)?;
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    }

    /// Reads what [`Calibration::write`] wrote.
    ///
    /// # Errors
    ///
    /// [`NotACalibration`], whatever the bytes are.
    pub fn parse(text: &[u8]) -> Result<Self, NotACalibration> {
        /// What all versions have.
        #[derive(Deserialize)]
        struct Versioned {
            version: u64,
        }
        if text.len() > MAX_TEXT_BYTES {
            let found_bytes = text.len();
            return Err(NotACalibration::Length { found_bytes });
        }
        let Versioned { version } = serde_json::from_slice(text)?;
        if version != u64::from(VERSION) {
            return Err(NotACalibration::Version { found: version });
        }
        let calibration: Self = serde_json::from_slice(text)?;
        calibration.check()?;
        Ok(calibration)
    }

    /// Predictions divide by figures and add them up, so each is what it can be.
    fn check(&self) -> Result<(), NotACalibration> {
        for (name, medium) in &self.media {
            let at = |field: &str| format!("media.{name}.{field}");
            positive(at("request_s"), medium.request_s)?;
            positive(at("large_request_s"), medium.large_request_s)?;
            positive(at("huge_request_s"), medium.huge_request_s)?;
            positive(at("bandwidth_bytes_per_s"), medium.bandwidth_bytes_per_s)?;
            positive(at("reads_per_s"), medium.reads_per_s)?;
        }
        if let Some(memory) = &self.memory {
            let at = |field: &str| format!("memory.{field}");
            positive(at("copy_bytes_per_s"), memory.copy_bytes_per_s)?;
            positive(at("fault_s"), memory.fault_s)?;
            positive(at("pages_per_fault"), memory.pages_per_fault)?;
        }
        self.reader.as_ref().map_or(Ok(()), ReaderFigures::check)
    }
}

impl ReaderFigures {
    fn check(&self) -> Result<(), NotACalibration> {
        let at = |field: &str| format!("reader.{field}");
        positive(at("fill_page_s"), self.fill_page_s)?;
        not_negative(at("stored_block_s"), self.stored_block_s)?;
        positive(at("threads_gain"), self.threads_gain)?;
        not_negative(at("lookup_s"), self.lookup_s.unwrap_or(0.0))?;
        not_negative(at("lookup_reads"), self.lookup_reads.unwrap_or(0.0))?;
        for of in &self.decompression {
            let at = |field: &str| format!("reader.decompression.{}.{field}", of.compressor);
            not_negative(at("block_s"), of.block_s)?;
            positive(at("bytes_per_s"), of.bytes_per_s)?;
            for block in &of.blocks {
                positive(at("blocks.block_bytes"), block.block_bytes.into())?;
                positive(at("blocks.time_s"), block.time_s)?;
                positive(at("blocks.ratio"), block.ratio)?;
            }
        }
        Ok(())
    }

    /// Decompression by a compressor, if it was measured.
    pub fn decompression_by(&self, compressor: &str) -> Option<&Decompression> {
        let mut all = self.decompression.iter();
        all.find(|decompression| decompression.compressor == compressor)
    }
}

impl MediumFigures {
    /// What a read takes besides its bytes, in s, and how fast these come, in bytes/s: the line
    /// through the single reads of 4 KiB, 128 KiB and 1 MiB.
    pub fn request_and_bandwidth(&self) -> (f64, f64) {
        let points = [
            (4_096.0, self.request_s),
            (131_072.0, self.large_request_s),
            (1_048_576.0, self.huge_request_s),
        ];
        // It has none only if they are not those of a calibration that was checked.
        Line::through(&points).map_or((self.request_s, self.bandwidth_bytes_per_s), |line| {
            (line.start, 1.0 / line.slope)
        })
    }
}

fn positive(name: String, found: f64) -> Result<(), NotACalibration> {
    if found.is_finite() && found > 0.0 {
        return Ok(());
    }
    let rule = "above 0";
    Err(NotACalibration::Figure { name, found, rule })
}

fn not_negative(name: String, found: f64) -> Result<(), NotACalibration> {
    if found.is_finite() && found >= 0.0 {
        return Ok(());
    }
    let rule = "0 or above";
    Err(NotACalibration::Figure { name, found, rule })
}

#[cfg(test)]
mod tests;
