//! A recorded start beside the map of its image.

use std::collections::{BTreeMap, HashMap, HashSet};

use coldpress_host::{Counters, RawEvent};
use coldpress_image::{DumpArea, Image};
use coldpress_trace::PAGE_SIZE_BYTES;

use crate::archives::{EntryCost, archive_costs};
use crate::device_read::{DeviceRead, device_reads};
use crate::explanation::{AreaCost, Explanation, ReadKind, ReadMark, Totals};
use crate::file_cost::{FileCost, file_costs};
use crate::image_map::{BlockKind, ImageMap, MappedFile};
use crate::page_use::{PageUse, page_uses};
use crate::repeats::{CacheSizes, repeats};
use crate::share::share;
use crate::touches::{Touch, touches};

/// What was recorded.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Ordered by time.
    pub events: &'a [RawEvent],
    /// What the block device counted meanwhile.
    pub counters: Counters,
    /// From the first look at the image until the program was ready or ended.
    pub wall_us: u64,
    /// How many bytes a thread of this machine makes in a second of compressed blocks of the image;
    /// it bounds what is taken for decompression.
    pub decompression_bytes_per_s: Option<u64>,
    /// The caches of the kernel that recorded.
    pub caches: CacheSizes,
}

/// A start whose reads and pages have been told apart.
#[derive(Debug)]
pub struct Account<'a> {
    map: &'a ImageMap,
    start: Start<'a>,
    reads: Vec<DeviceRead>,
    uses: HashMap<usize, PageUse>,
}

impl<'a> Account<'a> {
    /// Tells reads and pages apart.
    ///
    /// # Cost
    ///
    /// Two passes over the events; holds some 120 bytes for each read.
    pub fn new(map: &'a ImageMap, start: Start<'a>) -> Self {
        Self {
            map,
            start,
            reads: device_reads(start.events, map, start.decompression_bytes_per_s),
            uses: page_uses(start.events, map),
        }
    }

    /// The pages of a file, if it was touched.
    ///
    /// * `file`: its index in [`ImageMap::files`].
    pub fn pages(&self, file: usize) -> Option<&PageUse> {
        self.uses.get(&file)
    }

    /// Where each file was touched, in order, as exactly as is known.
    ///
    /// # Cost
    ///
    /// One pass over the events.
    pub fn touches(&self) -> HashMap<usize, Vec<Touch>> {
        touches(self.start.events, self.map)
    }

    /// Which entries of archives were read.
    ///
    /// * `explanation`: that of this account.
    ///
    /// # Cost
    ///
    /// Reads the directories of up to 20 archives; a pass over the events for each.
    pub fn archives(&self, image: &Image, explanation: &Explanation) -> Vec<EntryCost> {
        let files: Vec<usize> = explanation.files.iter().map(|cost| cost.file).collect();
        archive_costs(image, self.map, &files, &self.reads, self.start.events)
    }

    /// What the start did.
    pub fn explanation(&self) -> Explanation {
        let files = file_costs(self.map, &self.uses, &self.reads);
        Explanation {
            totals: self.totals(&files),
            metadata: self.areas(),
            repeats: repeats(&self.reads, self.start.events, self.map, self.start.caches),
            files,
            reads: self.marks(),
        }
    }

    fn totals(&self, files: &[FileCost]) -> Totals {
        let start = &self.start;
        let mut totals = Totals {
            wall_us: start.wall_us,
            device_reads: start.counters.reads,
            device_bytes: start.counters.read_bytes,
            reads: self.reads.len() as u64,
            needed_bytes: self.needed_bytes(),
            decompression_bytes_per_s: start.decompression_bytes_per_s,
            ..Totals::default()
        };
        for read in &self.reads {
            totals.read_bytes += read.len_bytes;
            match self.kind(read) {
                ReadKind::Data => totals.data_bytes += read.len_bytes,
                ReadKind::Fragment => totals.fragment_bytes += read.len_bytes,
                ReadKind::Metadata => totals.metadata_bytes += read.len_bytes,
            }
            totals.waited_us += read.waited_us;
            totals.decompressing_us += read.decompressing_us;
            totals.decompressed_bytes += read.decompressed_bytes(self.map);
        }
        for file in files {
            totals.files += u64::from(file.used_bytes + file.perhaps_used_bytes > 0);
            totals.used_bytes += file.used_bytes;
            totals.perhaps_used_bytes += file.perhaps_used_bytes;
            totals.unused_bytes += file.unused_bytes;
        }
        for (&file, pages) in &self.uses {
            let end = self.map.files().get(file).map_or(0, MappedFile::page_count);
            let cached = pages.cached.page_count();
            let past_end = pages.cached.count_in(end, u64::MAX);
            totals.cached_bytes += cached.saturating_mul(PAGE_SIZE_BYTES);
            totals.past_end_bytes += past_end.saturating_mul(PAGE_SIZE_BYTES);
        }
        totals.decompressing_by_rate_us = start
            .decompression_bytes_per_s
            .map(|rate| share(totals.decompressed_bytes, 1_000_000, rate.max(1)));
        totals
    }

    /// Bytes in the image of what holds used pages, and of metadata that was read.
    fn needed_bytes(&self) -> u64 {
        let mut needed = HashSet::new();
        for (&file, pages) in &self.uses {
            for (first, last) in pages.used().runs() {
                let block_pages = self.map.block_pages();
                for index in first / block_pages..=last / block_pages {
                    let page = first.max(index.saturating_mul(block_pages));
                    needed.extend(self.map.block_of_page(file, page));
                }
            }
        }
        let is_metadata = |block: &usize| {
            let block = self.map.blocks().get(*block);
            block.is_some_and(crate::Block::is_metadata)
        };
        let read = self
            .reads
            .iter()
            .flat_map(|read| read.blocks.iter().copied());
        needed.extend(read.filter(is_metadata));
        let blocks = needed
            .iter()
            .filter_map(|&block| self.map.blocks().get(block));
        blocks.map(|block| block.size_bytes).sum()
    }

    fn areas(&self) -> Vec<AreaCost> {
        let mut areas: BTreeMap<DumpArea, (AreaCost, HashSet<usize>)> = BTreeMap::new();
        for read in &self.reads {
            let Some(&index) = read.blocks.first() else {
                continue;
            };
            let Some(block) = self.map.blocks().get(index) else {
                continue;
            };
            let BlockKind::Metadata(area) = block.kind else {
                continue;
            };
            let (cost, seen) = areas
                .entry(area)
                .or_insert_with(|| (AreaCost::nothing(area), HashSet::new()));
            if seen.insert(index) {
                cost.blocks += 1;
                cost.unique_bytes += block.size_bytes;
            }
            cost.readings += u64::from(!read.goes_on);
            cost.device_reads += 1;
            cost.read_bytes += read.len_bytes;
            cost.waited_us += read.waited_us;
            cost.decompressing_us += read.decompressing_us;
        }
        areas.into_values().map(|(cost, _)| cost).collect()
    }

    fn kind(&self, read: &DeviceRead) -> ReadKind {
        let block = read.blocks.first();
        match block.and_then(|&block| self.map.blocks().get(block)) {
            Some(block) => match block.kind {
                BlockKind::Data { .. } => ReadKind::Data,
                BlockKind::Fragment(_) => ReadKind::Fragment,
                BlockKind::Metadata(_) => ReadKind::Metadata,
            },
            None => ReadKind::Metadata,
        }
    }

    fn marks(&self) -> Vec<ReadMark> {
        let mark = |read: &DeviceRead| ReadMark {
            time_us: read.time_us,
            start_byte: read.start_byte,
            len_bytes: read.len_bytes,
            kind: self.kind(read),
            file: crate::file_cost::payer(self.map, read),
            waited_us: read.waited_us,
        };
        self.reads.iter().map(mark).collect()
    }
}

impl AreaCost {
    fn nothing(area: DumpArea) -> Self {
        Self {
            area,
            blocks: 0,
            readings: 0,
            device_reads: 0,
            read_bytes: 0,
            unique_bytes: 0,
            waited_us: 0,
            decompressing_us: 0,
        }
    }
}

#[cfg(test)]
mod tests;
