//! Which pages of files were used, which came into memory, and which of these in vain.

mod read_ahead;

use std::collections::{HashMap, HashSet};

use coldpress_host::{RawEvent, RawKind};
use coldpress_trace::Coverage;

use crate::image_map::{ImageMap, MappedFile};
use read_ahead::ReadAhead;

/// Pages that the kernel handles at once in a read (`PAGEVEC_SIZE`).
const BATCH_PAGES: u64 = 31;

/// The pages of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageUse {
    /// Read or faulted on.
    pub certain: Coverage,
    /// Mapped around a fault: at least one of each window was used.
    pub perhaps: Coverage,
    /// Came into memory, pages past the end of the file too.
    pub cached: Coverage,
    /// Pages that came into memory although they had before: they were evicted meanwhile.
    pub cached_again: u64,
    /// When the file was first accessed.
    pub first_us: u64,
    /// How often its pages were asked for, by reads and faults.
    pub accesses: u64,
    mapped: bool,
}

impl PageUse {
    /// Used certainly or perhaps.
    pub fn used(&self) -> Coverage {
        let mut used = self.certain.clone();
        for (first, last) in self.perhaps.runs() {
            used.cover(first, last, |_, _| ());
        }
        used
    }

    /// Pages that came into memory and were not even perhaps used.
    pub fn unused_pages(&self) -> u64 {
        let used = self.used();
        let unused = self.cached.runs().map(|(first, last)| {
            (last - first)
                .saturating_add(1)
                .saturating_sub(used.count_in(first, last))
        });
        unused.fold(0, u64::saturating_add)
    }
}

/// The pages of each file that was touched, by its index.
///
/// Pages past the end of a file are not used, whatever was asked for.
pub(crate) fn page_uses(events: &[RawEvent], map: &ImageMap) -> HashMap<usize, PageUse> {
    let mut uses: HashMap<usize, PageUse> = HashMap::new();
    let mut told_blocks = HashSet::new();
    let mut read_ahead = ReadAhead::default();
    for event in events {
        let (inode, first, last) = match event.kind {
            RawKind::Read {
                inode,
                first_page,
                last_page,
            }
            | RawKind::Map {
                inode,
                first_page,
                last_page,
            }
            | RawKind::Cache {
                inode,
                first_page,
                last_page,
            } => (inode, first_page, last_page),
            RawKind::Fault { inode, page } => (inode, page, page),
            RawKind::DeviceRead { .. } | RawKind::DeviceDone { .. } | RawKind::UserFault { .. } => {
                continue;
            }
        };
        let Some(file) = map.file_of_inode(inode) else {
            continue;
        };
        let page_count = map.files().get(file).map_or(0, MappedFile::page_count);
        let entry = uses.entry(file).or_insert_with(|| PageUse {
            first_us: event.time_us,
            ..PageUse::default()
        });
        if let RawKind::Cache { .. } = event.kind {
            entry.cache(first, last);
            let read = read_ahead.add(event.pid, file, first, last);
            if let Some(page) = read.filter(|&page| page < page_count) {
                entry.certain.cover(page, page, |_, _| ());
                entry.accesses += 1;
            }
            continue;
        }
        read_ahead.end(event.pid, file);
        let last = last.min(page_count.saturating_sub(1));
        if page_count == 0 || first > last {
            continue;
        }
        let is_certain = !matches!(event.kind, RawKind::Map { .. });
        let set = if is_certain {
            entry.accesses += 1;
            &mut entry.certain
        } else {
            &mut entry.perhaps
        };
        set.cover(first, last, |_, _| ());
        if let RawKind::Read { .. } = event.kind {
            for block in first / map.block_pages()..=last / map.block_pages() {
                told_blocks.insert((file, block));
            }
        } else {
            entry.mapped = true;
        }
    }
    for (&file, entry) in &mut uses {
        let page_count = map.files().get(file).map_or(0, MappedFile::page_count);
        entry.add_silent_reads(page_count, map.block_pages(), |block| {
            told_blocks.contains(&(file, block))
        });
    }
    uses
}

impl PageUse {
    fn cache(&mut self, first: u64, last: u64) {
        let mut new = 0_u64;
        self.cached.cover(first, last, |first, last| {
            new = new.saturating_add((last - first).saturating_add(1));
        });
        let all = (last - first).saturating_add(1);
        self.cached_again = self.cached_again.saturating_add(all - new.min(all));
    }

    /// A read of the end of a file has no event if a page follows that is in memory and not filled,
    /// as most pages past the end are; that its pages came into memory has one. So what came in of
    /// the last pages of a file that was never mapped, in a block of which no read was told, was
    /// read.
    fn add_silent_reads(
        &mut self,
        page_count: u64,
        block_pages: u64,
        is_told: impl Fn(u64) -> bool,
    ) {
        let Some(end) = page_count.checked_sub(1).filter(|_| !self.mapped) else {
            return;
        };
        let from = page_count.saturating_sub(BATCH_PAGES);
        let runs: Vec<_> = self.cached.runs_in(from, end).collect();
        for (first, last) in runs {
            for block in first / block_pages..=last / block_pages {
                if is_told(block) {
                    continue;
                }
                let block_first = block * block_pages;
                let first = first.max(block_first);
                let last = last.min(block_first + (block_pages - 1));
                self.certain.cover(first, last, |_, _| ());
                self.accesses += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
