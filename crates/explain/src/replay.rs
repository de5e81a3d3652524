//! What a recorded trace would read from an image: to compare layouts without starting anything.

use std::collections::{HashMap, VecDeque};

use coldpress_format::Body;
use coldpress_host::{Counters, RawEvent, RawKind};
use coldpress_image::{Error, Image};
use coldpress_trace::{Access, Coverage, Event, Trace};

use crate::image_map::{BlockKind, ImageMap};
use crate::repeats::CacheSizes;

/// What a trace would do to an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// As if they had been recorded, with the times of the trace; reads take none.
    pub events: Vec<RawEvent>,
    /// The reads and their bytes.
    pub counters: Counters,
    /// Paths that were read and are no regular files of the image, each once.
    pub missing: Vec<Vec<u8>>,
}

/// Reads what a trace used: each block when a page of it is first needed, fragment blocks again once
/// they had to make room for others.
///
/// There is no readahead, no metadata, and memory for all pages. A window around a fault reads something only if none of its pages
/// is there.
///
/// # Errors
///
/// As [`Image::find`].
///
/// # Cost
///
/// A lookup for each path; O(n log n) in the number of events and blocks.
pub fn replay(
    image: &Image,
    map: &ImageMap,
    trace: &Trace,
    caches: CacheSizes,
) -> Result<Replay, Error> {
    let mut files: HashMap<&[u8], Option<usize>> = HashMap::new();
    let mut reader = Reader {
        map,
        caches,
        cached: HashMap::new(),
        fragments: VecDeque::new(),
        replay: Replay::default(),
    };
    for event in &trace.events {
        let Some((first, last)) = event.access.pages() else {
            continue;
        };
        let path = event.path.as_slice();
        let file = if let Some(file) = files.get(path) {
            *file
        } else {
            let file = find(image, map, path)?;
            files.insert(path, file);
            if file.is_none() {
                reader.replay.missing.push(path.to_vec());
            }
            file
        };
        if let Some(file) = file {
            reader.access(event, file, (first, last));
        }
    }
    Ok(reader.replay)
}

/// The file of a path, under whichever of its names.
fn find(image: &Image, map: &ImageMap, path: &[u8]) -> Result<Option<usize>, Error> {
    let found = image.find(path)?;
    Ok(found.and_then(|(_, inode)| match inode.body {
        Body::File(_) => map.file_of_inode(inode.number.into()),
        _ => None,
    }))
}

struct Reader<'a> {
    map: &'a ImageMap,
    caches: CacheSizes,
    /// Pages that are in memory.
    cached: HashMap<usize, Coverage>,
    /// Fragment blocks that the kernel keeps, the oldest first.
    fragments: VecDeque<usize>,
    replay: Replay,
}

impl Reader<'_> {
    fn access(&mut self, event: &Event, file: usize, (first, last): (u64, u64)) {
        let Some(mapped) = self.map.files().get(file) else {
            return;
        };
        let last = last.min(mapped.page_count().saturating_sub(1));
        if mapped.page_count() == 0 || first > last {
            return;
        }
        let inode = mapped.number.into();
        let needed = match event.access {
            Access::Map { .. } => {
                let cached = self.cached.entry(file).or_default();
                (cached.count_in(first, last) == 0).then_some((first, first))
            }
            _ => Some((first, last)),
        };
        if let Some((first, last)) = needed {
            for block in first / self.map.block_pages()..=last / self.map.block_pages() {
                self.fill(event, file, (inode, mapped.page_count()), block);
            }
        }
        let kind = match event.access {
            Access::Fault { page } => RawKind::Fault { inode, page },
            Access::Map { .. } => RawKind::Map {
                inode,
                first_page: first,
                last_page: last,
            },
            _ => RawKind::Read {
                inode,
                first_page: first,
                last_page: last,
            },
        };
        self.push(event, kind);
    }

    /// Brings a block of pages into memory, if it is not there.
    fn fill(&mut self, event: &Event, file: usize, (inode, page_count): (u64, u64), block: u64) {
        let (first, last) = self.map.pages_of(block);
        let last = last.min(page_count.saturating_sub(1));
        let mut is_new = false;
        let cached = self.cached.entry(file).or_default();
        cached.cover(first, last, |_, _| is_new = true);
        if !is_new {
            return;
        }
        let cache = RawKind::Cache {
            inode,
            first_page: first,
            last_page: last,
        };
        self.push(event, cache);
        let Some(index) = self.map.block_of_page(file, first) else {
            return;
        };
        let Some(block) = self.map.blocks().get(index) else {
            return;
        };
        if let BlockKind::Fragment(_) = block.kind {
            if self.fragments.contains(&index) {
                return;
            }
            self.fragments.push_back(index);
            if self.fragments.len() as u64 > self.caches.fragment_blocks {
                self.fragments.pop_front();
            }
        }
        let (start_byte, len_bytes) = (block.start, block.size_bytes);
        self.replay.counters.reads += 1;
        self.replay.counters.read_bytes += len_bytes;
        let read = RawKind::DeviceRead {
            start_byte,
            len_bytes,
        };
        self.push(event, read);
        let done = RawKind::DeviceDone {
            start_byte,
            len_bytes,
        };
        self.push(event, done);
    }

    fn push(&mut self, event: &Event, kind: RawKind) {
        self.replay.events.push(RawEvent {
            time_us: event.time_us,
            pid: event.pid,
            kind,
        });
    }
}

#[cfg(test)]
mod tests;
