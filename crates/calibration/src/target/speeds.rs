//! What was measured of a reader, as speeds of the cost model.

use coldpress_cost::{Speed, Speeds};
use coldpress_format::{BlockSize, Compressor};
use coldpress_host::{BlockTime, Calibration};

/// Bytes of a page of the figures.
const PAGE_BYTES: f64 = 4096.0;
/// What part of the time of a full block is not for its bytes, at most: the fixed part is that of a
/// line, which does not go through every block size.
const FIXED_SHARE: f64 = 0.5;

/// Puts figures in the place of defaults, as far as there are any.
pub(super) fn apply(kept: &Calibration, speeds: &mut Speeds) {
    if let Some(memory) = &kept.memory {
        speeds.copy_bytes_per_s = memory.copy_bytes_per_s;
        speeds.miss_s = memory.fault_s;
    }
    // What this process takes in user space says nothing of the kernel.
    let Some(reader) = kept.reader.as_ref().filter(|reader| reader.is_kernel) else {
        return;
    };
    // Filling a page is bringing it into memory and copying to it.
    let copy_s = PAGE_BYTES / speeds.copy_bytes_per_s;
    speeds.page_s = (reader.fill_page_s - copy_s).max(0.0);
    // What a read takes that finds its pages absent, besides filling them, and never less than a
    // fault that finds them.
    speeds.miss_s = speeds.miss_s.max(reader.stored_block_s);
    speeds.lookup_s = reader.lookup_s.unwrap_or(speeds.lookup_s);
    for of in &reader.decompression {
        let mut known = Compressor::ALL.into_iter();
        let Some(compressor) = known.find(|known| known.name() == of.compressor) else {
            continue;
        };
        speeds.forget(compressor);
        for block in &of.blocks {
            if let Ok(block_size) = BlockSize::new(block.block_bytes) {
                let speed = speed(block, of.block_s, speeds.copy_bytes_per_s);
                speeds.set(compressor, block_size, speed);
            }
        }
    }
}

/// What a compressed block takes longer than a stored one, and the copy that only the stored one
/// needs.
fn speed(block: &BlockTime, block_s: f64, copy_bytes_per_s: f64) -> Speed {
    let bytes = f64::from(block.block_bytes);
    let time_s = block.time_s + bytes / copy_bytes_per_s;
    let block_s = block_s.min(time_s * FIXED_SHARE);
    Speed {
        bytes_per_s: bytes / (time_s - block_s),
        block_s,
    }
}
