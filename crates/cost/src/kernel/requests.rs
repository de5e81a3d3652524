//! A mount in user space: the kernel asks a process, which decompresses each block once and keeps
//! it.

use std::collections::VecDeque;

use super::{Kernel, PAGE_BYTES};
use crate::geometry::{Extent, FileGeometry};

/// Pages that one request asks for.
const REQUEST_PAGES: u64 = 32;

/// Decompressed blocks that the process keeps, those that were used last.
#[derive(Debug)]
pub(super) struct Kept {
    max_bytes: u64,
    bytes: u64,
    /// By image byte, with what each holds; the one that was used last stands last.
    blocks: VecDeque<(u64, u64)>,
}

impl Kept {
    pub(super) fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            bytes: 0,
            blocks: VecDeque::new(),
        }
    }

    /// Asks for a block, which is kept from now on; returns whether it was.
    fn get(&mut self, extent: &Extent) -> bool {
        let found = self
            .blocks
            .iter()
            .rposition(|block| block.0 == extent.start_byte);
        let known = found.and_then(|at| self.blocks.remove(at));
        let block = known.unwrap_or((extent.start_byte, extent.len_bytes.into()));
        self.blocks.push_back(block);
        if known.is_none() {
            self.bytes += block.1;
            while self.bytes > self.max_bytes && self.blocks.len() > 1 {
                self.bytes -= self.blocks.pop_front().map_or(0, |block| block.1);
            }
        }
        known.is_some()
    }
}

impl Kernel<'_> {
    /// Time of a request and its answer (equation 8).
    pub(super) fn request(&mut self, now_s: &mut f64) {
        let takes_s = self.machine.speeds.fuse_request_s;
        self.causes.request_s += takes_s;
        *now_s += takes_s;
    }

    /// Has the process answer for pages of a file, in requests of 128 KiB.
    pub(super) fn ask_for(&mut self, now_s: &mut f64, file: &FileGeometry, page: u64, end: u64) {
        let block_bytes = u64::from(self.geometry.block_size.bytes());
        let mut page = page;
        while page < end {
            let request_end = end.min(page + REQUEST_PAGES);
            self.request(now_s);
            let last_byte = request_end * PAGE_BYTES - 1;
            for block in page * PAGE_BYTES / block_bytes..=last_byte / block_bytes {
                let fragment = || self.geometry.fragments.get(file.fragment? as usize);
                let extent = file.block(block).or_else(fragment).copied();
                if let Some(extent) = extent.filter(|extent| extent.stored_bytes > 0) {
                    self.answer(now_s, &extent);
                }
            }
            page = request_end;
        }
    }

    fn answer(&mut self, now_s: &mut f64, extent: &Extent) {
        let Some(kept) = &mut self.kept else {
            return;
        };
        if kept.get(extent) {
            return;
        }
        let stored_bytes = extent.stored_bytes.into();
        let done_s = self.device.read(*now_s, extent.start_byte, stored_bytes);
        self.causes.data_wait_s += done_s - *now_s;
        *now_s = done_s;
        self.decompress(now_s, self.geometry.block_size.bytes(), extent);
        self.causes.decompress_s += *now_s - done_s;
    }
}
