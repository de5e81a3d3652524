//! Reads of the device: for which blocks and files they were made, and how long they took.

use std::collections::HashMap;

use coldpress_host::{RawEvent, RawKind};

use crate::image_map::ImageMap;
use crate::share::share;

/// What a thread does besides between the arrival of bytes and its next event: it is woken, copies
/// pages and returns.
const OVERHEAD_US: u64 = 50;
/// The kernel may decompress slower than a program does, but hardly by more than this.
const SLOWNESS_MAX: u64 = 3;
/// Reads that may be under way at once; a device that never tells when it is done must not make
/// this slow.
const PENDING_MAX: usize = 4096;

/// One read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceRead {
    /// When it was asked for.
    pub(crate) time_us: u64,
    /// When the bytes were there, if that was told.
    pub(crate) done_us: Option<u64>,
    pub(crate) pid: u32,
    pub(crate) start_byte: u64,
    pub(crate) len_bytes: u64,
    /// The blocks that it was made for.
    pub(crate) blocks: Vec<usize>,
    /// Whether it holds them whole.
    pub(crate) is_whole: bool,
    /// Whether it goes on with what the read before began: the metadata block behind its header.
    pub(crate) goes_on: bool,
    /// The file that its thread used or filled pages of last.
    pub(crate) file: Option<usize>,
    /// What the thread waited for it.
    pub(crate) waited_us: u64,
    /// What the thread then spent on decompressing it, and little else.
    pub(crate) decompressing_us: u64,
}

impl DeviceRead {
    /// What the blocks that it was made for hold. A read that goes on with a header has its block
    /// whole; the header alone had nothing to decompress.
    pub(crate) fn decompressed_bytes(&self, map: &ImageMap) -> u64 {
        if !self.is_whole {
            return 0;
        }
        let blocks = self.blocks.iter();
        let blocks = blocks.filter_map(|&block| map.blocks().get(block));
        blocks.map(|block| block.len_bytes).sum()
    }
}

/// What is known of a thread at a moment.
#[derive(Default)]
struct Thread {
    /// Reads asked for since it last waited.
    burst: Vec<usize>,
    file: Option<usize>,
    /// The read that was its last event.
    last_read: Option<usize>,
}

/// All reads of a recording, in order.
///
/// A thread asks for one block, or a few, sleeps until they are there, decompresses them, and goes
/// on: it fills pages, asks for more, faults again. So from the first request to the last arrival
/// it waits, and from there to its next event it decompresses. Where that event comes late, because
/// the program goes on without one, no more is believed than [`SLOWNESS_MAX`] times what
/// `decompression_bytes_per_s` tells.
///
/// # Cost
///
/// One pass.
pub(crate) fn device_reads(
    events: &[RawEvent],
    map: &ImageMap,
    decompression_bytes_per_s: Option<u64>,
) -> Vec<DeviceRead> {
    let mut listener = Listener {
        map,
        decompression_bytes_per_s,
        reads: Vec::new(),
        pending: Vec::new(),
        threads: HashMap::new(),
    };
    for event in events {
        listener.take(event);
    }
    listener.finish()
}

struct Listener<'a> {
    map: &'a ImageMap,
    decompression_bytes_per_s: Option<u64>,
    reads: Vec<DeviceRead>,
    pending: Vec<usize>,
    threads: HashMap<u32, Thread>,
}

impl Listener<'_> {
    fn take(&mut self, event: &RawEvent) {
        if let RawKind::DeviceDone {
            start_byte,
            len_bytes,
        } = event.kind
        {
            self.note_done(
                event.time_us,
                start_byte,
                start_byte.saturating_add(len_bytes),
            );
            return;
        }
        self.close_burst(event.pid, event.time_us);
        let read = match event.kind {
            RawKind::Read { inode, .. }
            | RawKind::Fault { inode, .. }
            | RawKind::Map { inode, .. }
            | RawKind::Cache { inode, .. } => {
                // Metadata may be cached as pages of an inode that is no file.
                if let Some(file) = self.map.file_of_inode(inode) {
                    self.threads.entry(event.pid).or_default().file = Some(file);
                }
                None
            }
            RawKind::DeviceRead {
                start_byte,
                len_bytes,
            } => Some(self.note_read(event, start_byte, len_bytes)),
            RawKind::DeviceDone { .. } | RawKind::UserFault { .. } => None,
        };
        self.threads.entry(event.pid).or_default().last_read = read;
    }

    fn note_read(&mut self, event: &RawEvent, start_byte: u64, len_bytes: u64) -> usize {
        let thread = self.threads.entry(event.pid).or_default();
        let (blocks, is_whole) = self.map.targets(start_byte, len_bytes, thread.file);
        let before = thread.last_read.and_then(|read| self.reads.get(read));
        let goes_on = before.is_some_and(|before| {
            let is_same = !blocks.is_empty() && before.blocks == blocks;
            let is_metadata = blocks.iter().all(|&block| {
                let block = self.map.blocks().get(block);
                block.is_some_and(crate::Block::is_metadata)
            });
            let is_behind = before.start_byte.saturating_add(before.len_bytes) <= start_byte;
            is_same && (is_metadata && !before.goes_on || is_behind)
        });
        let index = self.reads.len();
        thread.burst.push(index);
        if self.pending.len() == PENDING_MAX {
            self.pending.remove(0);
        }
        self.pending.push(index);
        self.reads.push(DeviceRead {
            time_us: event.time_us,
            done_us: None,
            pid: event.pid,
            start_byte,
            len_bytes,
            blocks,
            is_whole,
            goes_on,
            file: thread.file,
            waited_us: 0,
            decompressing_us: 0,
        });
        index
    }

    /// A request that was done may hold several reads, or a part of a large one.
    fn note_done(&mut self, time_us: u64, start: u64, end: u64) {
        let reads = &mut self.reads;
        self.pending.retain(|&index| {
            let Some(read) = reads.get_mut(index) else {
                return false;
            };
            let read_end = read.start_byte.saturating_add(read.len_bytes);
            if read.start_byte < end && start < read_end {
                read.done_us = Some(time_us);
            }
            // A part that comes later sets a later time.
            !(read.start_byte < end && start < read_end && read_end <= end)
        });
    }

    /// If all that a thread waited for is there, its next event ends the decompression.
    fn close_burst(&mut self, pid: u32, time_us: u64) {
        let Some(thread) = self.threads.get_mut(&pid) else {
            return;
        };
        let done = |&read: &usize| self.reads.get(read).and_then(|read| read.done_us);
        let Some(done) = thread.burst.iter().map(done).collect::<Option<Vec<u64>>>() else {
            return;
        };
        let Some(&arrived_us) = done.iter().max() else {
            return;
        };
        let burst = std::mem::take(&mut thread.burst);
        self.spread_time(&burst, arrived_us, time_us.saturating_sub(arrived_us));
    }

    /// Gives each read of a burst its part of the time, by its bytes.
    fn spread_time(&mut self, burst: &[usize], arrived_us: u64, gap_us: u64) {
        let of = |read: &usize| self.reads.get(*read);
        let asked_us = burst.iter().filter_map(of).map(|read| read.time_us).min();
        let waited_us = arrived_us.saturating_sub(asked_us.unwrap_or(arrived_us));
        let read_bytes: u64 = burst.iter().filter_map(of).map(|read| read.len_bytes).sum();
        let lens: Vec<u64> = burst
            .iter()
            .map(|read| of(read).map_or(0, |read| read.decompressed_bytes(self.map)))
            .collect();
        let len_bytes: u64 = lens.iter().sum();
        let decompressing_us = gap_us.min(self.longest_us(len_bytes));
        for (&index, len) in burst.iter().zip(lens) {
            if let Some(read) = self.reads.get_mut(index) {
                read.waited_us = share(waited_us, read.len_bytes, read_bytes);
                read.decompressing_us = share(decompressing_us, len, len_bytes);
            }
        }
    }

    fn longest_us(&self, len_bytes: u64) -> u64 {
        let Some(rate) = self.decompression_bytes_per_s else {
            return u64::MAX;
        };
        share(len_bytes, SLOWNESS_MAX * 1_000_000, rate.max(1)).saturating_add(OVERHEAD_US)
    }

    /// What was still under way when the recording ended has waited until it arrived, and no
    /// longer.
    fn finish(mut self) -> Vec<DeviceRead> {
        let mut pids: Vec<u32> = self.threads.keys().copied().collect();
        pids.sort_unstable();
        for pid in pids {
            self.close_burst(pid, 0);
        }
        self.reads
    }
}

#[cfg(test)]
mod tests;
