//! What each file cost.

use std::collections::HashMap;

use coldpress_trace::PAGE_SIZE_BYTES;
use serde::Serialize;

use crate::device_read::DeviceRead;
use crate::image_map::{BlockKind, ImageMap};
use crate::page_use::PageUse;

/// What a start did with one file. Times count from the beginning of the recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileCost {
    /// Its index in [`ImageMap::files`].
    #[serde(skip)]
    pub file: usize,
    /// Length of the file.
    pub size_bytes: u64,
    /// Reads and faults on its pages.
    pub accesses: u64,
    /// Reads of the device for it.
    pub device_reads: u64,
    /// Bytes of these reads.
    pub read_bytes: u64,
    /// Bytes that they decompressed to.
    pub decompressed_bytes: u64,
    /// Bytes of different pages that were certainly used.
    pub used_bytes: u64,
    /// Bytes of further pages that were perhaps used.
    pub perhaps_used_bytes: u64,
    /// Bytes that came into memory and were not even perhaps used.
    pub unused_bytes: u64,
    /// When it was first accessed.
    pub first_access_us: u64,
    /// What its threads waited for the device.
    pub waited_us: u64,
    /// What they decompressed, at most.
    pub decompressing_us: u64,
}

impl FileCost {
    /// Time that it cost.
    pub fn cost_us(&self) -> u64 {
        self.waited_us.saturating_add(self.decompressing_us)
    }

    /// Decompressed bytes for each byte that was used, certainly or perhaps; `None` if none was.
    pub fn amplification(&self) -> Option<f64> {
        let used_bytes = self.used_bytes.saturating_add(self.perhaps_used_bytes);
        #[expect(clippy::cast_precision_loss, reason = "three digits are shown of it")]
        (used_bytes > 0).then(|| self.decompressed_bytes as f64 / used_bytes as f64)
    }
}

/// The cost of each file that was used or read, the greatest first.
///
/// Data blocks count for the file that they belong to; one that files share, and a fragment block,
/// for the file whose access made it read.
pub(crate) fn file_costs(
    map: &ImageMap,
    uses: &HashMap<usize, PageUse>,
    reads: &[DeviceRead],
) -> Vec<FileCost> {
    let mut costs: HashMap<usize, FileCost> = HashMap::new();
    for (&file, pages) in uses {
        costs.insert(file, of_pages(map, file, pages));
    }
    for read in reads {
        let Some(file) = payer(map, read) else {
            continue;
        };
        let cost = costs.entry(file).or_insert_with(|| FileCost {
            file,
            size_bytes: map.files().get(file).map_or(0, |file| file.size_bytes),
            first_access_us: read.time_us,
            ..FileCost::default()
        });
        cost.device_reads += 1;
        cost.read_bytes = cost.read_bytes.saturating_add(read.len_bytes);
        if read.is_whole {
            let blocks = read.blocks.iter();
            let blocks = blocks.filter_map(|&block| map.blocks().get(block));
            cost.decompressed_bytes += blocks.map(|block| block.len_bytes).sum::<u64>();
        }
        cost.waited_us += read.waited_us;
        cost.decompressing_us += read.decompressing_us;
    }
    let mut costs: Vec<FileCost> = costs.into_values().collect();
    costs.sort_unstable_by_key(|cost| {
        (
            std::cmp::Reverse((cost.cost_us(), cost.read_bytes)),
            cost.file,
        )
    });
    costs
}

fn of_pages(map: &ImageMap, file: usize, pages: &PageUse) -> FileCost {
    let size_bytes = map.files().get(file).map_or(0, |file| file.size_bytes);
    let bytes = |count: u64| count.saturating_mul(PAGE_SIZE_BYTES);
    let certain = pages.certain.page_count();
    FileCost {
        file,
        size_bytes,
        accesses: pages.accesses,
        used_bytes: bytes(certain),
        perhaps_used_bytes: bytes(pages.used().page_count() - certain),
        unused_bytes: bytes(pages.unused_pages()),
        first_access_us: pages.first_us,
        ..FileCost::default()
    }
}

/// The file that a read is for; metadata is for all.
pub(crate) fn payer(map: &ImageMap, read: &DeviceRead) -> Option<usize> {
    let first = *read.blocks.first()?;
    match map.blocks().get(first)?.kind {
        BlockKind::Metadata(_) => None,
        BlockKind::Fragment(_) => read.file,
        BlockKind::Data { file, .. } => {
            let shares = |other: &usize| map.holds(first, *other);
            Some(read.file.filter(shares).unwrap_or(file))
        }
    }
}

#[cfg(test)]
mod tests;
