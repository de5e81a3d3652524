//! Data and fragment blocks: read, decompressed, spread over pages.

use super::{Kernel, PAGE_BYTES};
use crate::device::{READ_BYTES_MAX, as_f64};
use crate::event::IoEvent;
use crate::geometry::{Extent, FileGeometry};
use crate::slots::Kept;

impl Kernel<'_> {
    /// Fills the block of a page that no readahead has read (`squashfs_read_folio`).
    pub(super) fn fill_if_absent(&mut self, now_s: &mut f64, place: usize, page: u64) {
        if self.pages.ready_s(place, page).is_none() {
            let block = self.pages.block_of(page);
            let block_pages = self.block_pages();
            self.fill_blocks(now_s, place, block * block_pages, (block + 1) * block_pages);
        }
    }

    /// Fills all blocks from the one of `page` to the one before `end`, which are absent.
    pub(super) fn fill_blocks(&mut self, now_s: &mut f64, place: usize, page: u64, end: u64) {
        let Some(file) = self.file(place) else {
            return;
        };
        *now_s += self.machine.speeds.miss_s;
        let last = end.min(file.page_count()).saturating_sub(1);
        self.log_fill(*now_s, place, file, (page, end));
        if self.kept.is_some() {
            self.ask_for(now_s, file, page, last + 1);
            for filled in page..=last {
                self.note_filled(now_s, place, file, filled);
            }
            return;
        }
        let mut block = self.pages.block_of(page);
        while block <= self.pages.block_of(last) {
            let count = self.fill(now_s, place, file, (block, self.pages.block_of(last)));
            for filled in block..block + count {
                self.note_filled(now_s, place, file, filled);
            }
            block += count;
        }
        // Pages past the end of the file that the window grew by.
        let past = end.saturating_sub((self.pages.block_of(last) + 1) * self.block_pages());
        self.page_cache_bytes += past * PAGE_BYTES;
    }

    /// All pages of a window come into memory before the first of its blocks is read.
    fn log_fill(&mut self, now_s: f64, place: usize, file: &FileGeometry, (page, end): (u64, u64)) {
        let block_pages = self.block_pages();
        let first_page = self.pages.block_of(page) * block_pages;
        let mut behind = end.next_multiple_of(block_pages);
        if !self.rules.fills_blocks {
            behind = behind.min(file.page_count());
        }
        let event = IoEvent::Fill {
            place,
            first_page,
            last_page: behind.max(first_page + 1) - 1,
        };
        self.device.log.note(now_s, event);
    }

    fn note_filled(&mut self, now_s: &mut f64, place: usize, file: &FileGeometry, block: u64) {
        let first = block * self.block_pages();
        let pages = if self.rules.fills_blocks {
            self.block_pages()
        } else {
            (file.page_count() - first).min(self.block_pages())
        };
        self.page_cache_bytes += pages * PAGE_BYTES;
        let filling_s = as_f64(pages) * self.machine.speeds.page_s;
        self.causes.decompress_s += filling_s;
        *now_s += filling_s;
        self.pages.fill(place, block, *now_s);
    }

    /// Reads a block of a file, or several up to `last` that are one read; returns how many.
    fn fill(
        &mut self,
        now_s: &mut f64,
        place: usize,
        file: &FileGeometry,
        (block, last): (u64, u64),
    ) -> u64 {
        let Some(extent) = self.block(place, file, block) else {
            if let Some(fragment) = file.fragment {
                self.read_fragment(now_s, file, fragment);
            }
            return 1;
        };
        self.read_block_list(now_s, file, block);
        if extent.stored_bytes == 0 {
            return 1;
        }
        let mut count = 1;
        let mut end = extent.end();
        while self.rules.merges && block + count <= last {
            let next = self.block(place, file, block + count);
            let Some(next) = next.filter(|next| next.start_byte == end && next.stored_bytes > 0)
            else {
                break;
            };
            if next.end() - extent.start_byte > READ_BYTES_MAX {
                break;
            }
            end = next.end();
            count += 1;
        }
        let done_s = self
            .device
            .read(*now_s, extent.start_byte, end - extent.start_byte);
        self.causes.data_wait_s += done_s - *now_s;
        *now_s = done_s;
        let begun_s = *now_s;
        for index in block..block + count {
            if let Some(extent) = self.block(place, file, index) {
                self.decompress(now_s, self.geometry.block_size.bytes(), &extent);
            }
        }
        self.causes.decompress_s += *now_s - begun_s;
        count
    }

    /// Reads a fragment block, if it is not kept, and copies a tail end out of it.
    fn read_fragment(&mut self, now_s: &mut f64, file: &FileGeometry, index: u32) {
        let Some(&extent) = self.geometry.fragments.get(index as usize) else {
            return;
        };
        let kept = self.fragments.get(index.into());
        if kept != Kept::Yes {
            let begun_s = *now_s;
            let stored_bytes = extent.stored_bytes.into();
            let done_s = self.device.read(*now_s, extent.start_byte, stored_bytes);
            *now_s = done_s;
            self.decompress(now_s, self.geometry.block_size.bytes(), &extent);
            if kept == Kept::NoMore {
                self.causes.fragments_again_s += *now_s - begun_s;
            } else {
                self.causes.data_wait_s += done_s - begun_s;
                self.causes.decompress_s += *now_s - done_s;
            }
        }
        let tail_bytes = self.geometry.block_size.tail_bytes(file.size_bytes);
        let copying_s = f64::from(tail_bytes) / self.machine.speeds.copy_bytes_per_s;
        self.causes.decompress_s += copying_s;
        *now_s += copying_s;
    }

    /// Decompresses a block once a decompressor is free (equations 4 to 6), or copies one that is
    /// stored.
    pub(super) fn decompress(&mut self, now_s: &mut f64, block_bytes: u32, extent: &Extent) {
        let speeds = &self.machine.speeds;
        if extent.is_stored {
            *now_s += f64::from(extent.len_bytes) / speeds.copy_bytes_per_s;
            return;
        }
        self.decompressed_bytes += u64::from(extent.len_bytes);
        let compressor = self.geometry.compressor;
        let takes_s = speeds.decompression_s(compressor, block_bytes, extent.len_bytes);
        let free = self.decompressors.iter_mut().min_by(|a, b| a.total_cmp(b));
        let mut done_s = *now_s + takes_s;
        if let Some(free) = free {
            done_s = now_s.max(*free) + takes_s;
            *free = done_s;
        }
        *now_s = done_s;
    }
}
