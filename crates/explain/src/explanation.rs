//! What a start did, in figures.

use coldpress_image::DumpArea;
use serde::{Serialize, Serializer};

use crate::file_cost::FileCost;
use crate::repeats::Repeats;

/// All that is told of a start.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Sums.
    pub totals: Totals,
    /// The parts of the metadata, in the order of the image.
    pub metadata: Vec<AreaCost>,
    /// What was read again.
    pub repeats: Repeats,
    /// Files, the costliest first.
    pub files: Vec<FileCost>,
    /// Every read of the device, in order.
    pub reads: Vec<ReadMark>,
}

/// Sums over a start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// From the first look at the image until the program was ready or ended.
    pub wall_us: u64,
    /// Reads that the block device counted.
    pub device_reads: u64,
    /// Bytes that the block device counted.
    pub device_bytes: u64,
    /// Reads that the events tell; the device may have put several together.
    pub reads: u64,
    /// Bytes that the events tell.
    pub read_bytes: u64,
    /// Of them, read for data blocks.
    pub data_bytes: u64,
    /// Read for fragment blocks.
    pub fragment_bytes: u64,
    /// Read for metadata.
    pub metadata_bytes: u64,
    /// Bytes in the image of the different blocks that hold something that was used, and of
    /// metadata blocks that were read.
    pub needed_bytes: u64,
    /// What the reads decompressed to.
    pub decompressed_bytes: u64,
    /// Files whose pages were used.
    pub files: u64,
    /// Bytes of different pages that were certainly used.
    pub used_bytes: u64,
    /// Bytes of further pages that were perhaps used: mapped in passing around a fault.
    pub perhaps_used_bytes: u64,
    /// Bytes of pages of files that came into memory.
    pub cached_bytes: u64,
    /// Of them, not even perhaps used.
    pub unused_bytes: u64,
    /// Of these, past the ends of files.
    pub past_end_bytes: u64,
    /// What threads waited for the device, added up over threads.
    pub waited_us: u64,
    /// What they decompressed, added up over threads; at most.
    pub decompressing_us: u64,
    /// What a single thread of a program takes to decompress as much, if that is known.
    pub decompressing_by_rate_us: Option<u64>,
    /// How many bytes it makes in a second.
    pub decompression_bytes_per_s: Option<u64>,
}

impl Totals {
    /// Bytes read for each byte of the blocks that were needed.
    pub fn read_amplification(&self) -> Option<f64> {
        ratio(self.read_bytes, self.needed_bytes)
    }

    /// Bytes decompressed for each byte that was used, certainly or perhaps.
    pub fn decompression_amplification(&self) -> Option<f64> {
        let used_bytes = self.used_bytes.saturating_add(self.perhaps_used_bytes);
        ratio(self.decompressed_bytes, used_bytes)
    }

    /// How far the bytes of the events are from those that the device counted: 0.02 is 2 %.
    pub fn difference(&self) -> Option<f64> {
        ratio(
            self.read_bytes.abs_diff(self.device_bytes),
            self.device_bytes,
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown of it")]
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What reading a part of the metadata cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AreaCost {
    /// The part.
    #[serde(serialize_with = "name")]
    pub area: DumpArea,
    /// Different blocks that were read.
    pub blocks: u64,
    /// How often they were read.
    pub readings: u64,
    /// Reads of the device, headers and blocks.
    pub device_reads: u64,
    /// Bytes of these reads.
    pub read_bytes: u64,
    /// Bytes in the image of the different blocks.
    pub unique_bytes: u64,
    /// What threads waited for them.
    pub waited_us: u64,
    /// What threads spent on decompressing them, at most.
    pub decompressing_us: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn name<S: Serializer>(area: &DumpArea, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(area.name())
}

/// A read of the device, as charts show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadMark {
    /// When it was asked for.
    pub time_us: u64,
    /// Position in the image.
    pub start_byte: u64,
    /// How many bytes.
    pub len_bytes: u64,
    /// What it was for.
    pub kind: ReadKind,
    /// The file that it was for, if it was for one.
    pub file: Option<usize>,
    /// What its thread waited for it.
    pub waited_us: u64,
}

/// What a read was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadKind {
    /// Data blocks.
    Data,
    /// Fragment blocks.
    Fragment,
    /// Metadata, or what no block is.
    Metadata,
}
