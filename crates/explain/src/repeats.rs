//! Blocks that were read more than once, and why.

use std::cmp::Reverse;
use std::collections::HashMap;

use coldpress_host::{RawEvent, RawKind};
use coldpress_trace::Coverage;
use serde::Serialize;

use crate::device_read::DeviceRead;
use crate::image_map::{BlockKind, ImageMap};

/// How many blocks the kernel keeps after they were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSizes {
    /// Fragment blocks: `CONFIG_SQUASHFS_FRAGMENT_CACHE_SIZE`, 3 unless it was changed.
    pub fragment_blocks: u64,
    /// Metadata blocks: `SQUASHFS_CACHED_BLKS`, 8.
    pub metadata_blocks: u64,
}

impl Default for CacheSizes {
    fn default() -> Self {
        Self {
            fragment_blocks: 3,
            metadata_blocks: 8,
        }
    }
}

/// Why a block was read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A fragment block that had to make room for others in the kernel's cache of fragment blocks.
    FragmentCache,
    /// A metadata block that had to make room for others in the kernel's cache of metadata blocks.
    MetadataCache,
    /// Its pages were in memory and had to go.
    PageCache,
    /// The first time only a part of its pages was kept; now others were asked for.
    PartOfBlock,
    /// Files of the same content share it, and each has pages of its own.
    SharedContent,
    /// It was requested again before it had arrived.
    AtOnce,
    /// The events do not tell.
    Unknown,
}

impl Reason {
    /// As a clause: `it was evicted from the cache of fragment blocks`.
    pub const fn text(self) -> &'static str {
        match self {
            Self::FragmentCache => "evicted from the kernel's cache of fragment blocks",
            Self::MetadataCache => "evicted from the kernel's cache of metadata blocks",
            Self::PageCache => "its pages were evicted from memory",
            Self::PartOfBlock => "only a part of its pages was kept before",
            Self::SharedContent => "files of the same content share it",
            Self::AtOnce => "requested again before it had arrived",
            Self::Unknown => "the events do not show it",
        }
    }
}

/// What was read again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    /// Sums by reason, the one that cost most bytes first.
    pub by_reason: Vec<RepeatSum>,
    /// The blocks, those that cost most bytes first.
    pub blocks: Vec<RepeatedBlock>,
}

/// What was read again for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RepeatSum {
    /// Why.
    pub reason: Reason,
    /// How often a block was read again.
    pub readings: u64,
    /// Bytes that were read again.
    pub again_bytes: u64,
}

/// A block that was read more than once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedBlock {
    /// Its index in [`ImageMap::blocks`].
    pub block: usize,
    /// How often it was read.
    pub times: u64,
    /// Bytes of all reads but the first.
    pub again_bytes: u64,
    /// Why it was read again most often.
    pub reason: Reason,
}

/// One time that a block was read.
#[derive(Clone, Copy, Debug)]
struct Reading {
    asked_us: u64,
    done_us: u64,
    len_bytes: u64,
    /// Fragment or metadata blocks read before it.
    rank: u64,
    file: Option<usize>,
}

/// Finds what was read again.
pub(crate) fn repeats(
    reads: &[DeviceRead],
    events: &[RawEvent],
    map: &ImageMap,
    caches: CacheSizes,
) -> Repeats {
    let mut readings = readings(reads, map);
    readings.retain(|_, readings| readings.len() > 1);
    let filled = Filled::new(events, map, &readings);
    let mut sums: HashMap<Reason, (u64, u64)> = HashMap::new();
    let mut blocks = Vec::new();
    for (&block, readings) in &readings {
        let mut reasons: HashMap<Reason, u64> = HashMap::new();
        let mut again_bytes = 0;
        for (index, pair) in readings.windows(2).enumerate() {
            let &[before, now] = pair else { continue };
            let until_us = readings
                .get(index + 2)
                .map_or(u64::MAX, |next| next.asked_us);
            let reason = reason(block, (before, now, until_us), map, caches, &filled);
            let sum = sums.entry(reason).or_default();
            *sum = (sum.0 + 1, sum.1 + now.len_bytes);
            *reasons.entry(reason).or_default() += 1;
            again_bytes += now.len_bytes;
        }
        let most = reasons
            .into_iter()
            .max_by_key(|&(reason, count)| (count, reason));
        blocks.push(RepeatedBlock {
            block,
            times: readings.len() as u64,
            again_bytes,
            reason: most.map_or(Reason::Unknown, |(reason, _)| reason),
        });
    }
    blocks.sort_unstable_by_key(|found| (Reverse(found.again_bytes), found.block));
    let mut by_reason: Vec<_> = sums
        .into_iter()
        .map(|(reason, (readings, again_bytes))| RepeatSum {
            reason,
            readings,
            again_bytes,
        })
        .collect();
    by_reason.sort_unstable_by_key(|sum| (Reverse(sum.again_bytes), sum.reason));
    Repeats { by_reason, blocks }
}

/// How often each block was read. A read that goes on with the one before is the same reading.
fn readings(reads: &[DeviceRead], map: &ImageMap) -> HashMap<usize, Vec<Reading>> {
    let mut readings: HashMap<usize, Vec<Reading>> = HashMap::new();
    let (mut fragment_rank, mut metadata_rank, mut data_rank) = (0, 0, 0);
    for read in reads {
        for &block in &read.blocks {
            let of_block = readings.entry(block).or_default();
            let done_us = read.done_us.unwrap_or(read.time_us);
            if read.goes_on
                && let Some(last) = of_block.last_mut()
            {
                last.done_us = last.done_us.max(done_us);
                last.len_bytes += read.len_bytes;
                continue;
            }
            let rank = match map.blocks().get(block).map(|block| block.kind) {
                Some(BlockKind::Fragment(_)) => &mut fragment_rank,
                Some(BlockKind::Metadata(_)) => &mut metadata_rank,
                _ => &mut data_rank,
            };
            *rank += 1;
            of_block.push(Reading {
                asked_us: read.time_us,
                done_us,
                len_bytes: read.len_bytes,
                rank: *rank,
                file: read.file,
            });
        }
    }
    readings
}

fn reason(
    block: usize,
    (before, now, until_us): (Reading, Reading, u64),
    map: &ImageMap,
    caches: CacheSizes,
    filled: &Filled,
) -> Reason {
    if now.asked_us < before.done_us {
        return Reason::AtOnce;
    }
    // The caches are filled in turn: a block goes as soon as so many others came.
    let is_evicted = |size: u64| now.rank - before.rank > size;
    match map.blocks().get(block).map(|block| block.kind) {
        Some(BlockKind::Fragment(_)) if is_evicted(caches.fragment_blocks) => Reason::FragmentCache,
        Some(BlockKind::Metadata(_)) if is_evicted(caches.metadata_blocks) => Reason::MetadataCache,
        Some(BlockKind::Data { .. }) => filled.reason(block, before, now, until_us),
        _ => Reason::Unknown,
    }
}

/// Pages that came into memory.
#[derive(Clone, Copy)]
struct Fill {
    time_us: u64,
    file: usize,
    first: u64,
    last: u64,
}

/// When pages of the data blocks that were read again came into memory.
struct Filled(HashMap<usize, Vec<Fill>>);

impl Filled {
    fn new(events: &[RawEvent], map: &ImageMap, readings: &HashMap<usize, Vec<Reading>>) -> Self {
        let mut fills: HashMap<usize, Vec<Fill>> = HashMap::new();
        for event in events {
            let RawKind::Cache {
                inode,
                first_page,
                last_page,
            } = event.kind
            else {
                continue;
            };
            let Some(file) = map.file_of_inode(inode) else {
                continue;
            };
            if let Some(block) = map.block_of_page(file, first_page)
                && readings.contains_key(&block)
            {
                fills.entry(block).or_default().push(Fill {
                    time_us: event.time_us,
                    file,
                    first: first_page,
                    last: last_page,
                });
            }
        }
        Self(fills)
    }

    /// Why a data block was read again: by the pages that came into memory before and since.
    fn reason(&self, block: usize, before: Reading, now: Reading, until_us: u64) -> Reason {
        let fills = self.0.get(&block).map_or(&[][..], Vec::as_slice);
        let mut kept: HashMap<usize, Coverage> = HashMap::new();
        for fill in fills.iter().filter(|fill| fill.time_us <= before.done_us) {
            let kept = kept.entry(fill.file).or_default();
            kept.cover(fill.first, fill.last, |_, _| ());
        }
        let since = |fill: &&Fill| fill.time_us > before.done_us && fill.time_us <= until_us;
        let mut is_new = false;
        for fill in fills.iter().filter(since) {
            let Some(kept) = kept.get(&fill.file) else {
                return Reason::SharedContent;
            };
            if kept.count_in(fill.first, fill.last) > 0 {
                return Reason::PageCache;
            }
            is_new = true;
        }
        let users = before.file.zip(now.file);
        match users.is_some_and(|(before, now)| before != now) {
            _ if is_new => Reason::PartOfBlock,
            true => Reason::SharedContent,
            false => Reason::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
