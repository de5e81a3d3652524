//! A file system inside the kernel, as the program's threads use it.
//!
//! Everything happens in the thread that asks: it waits for a block, decompresses it, and goes on,
//! also where pages are read ahead (`squashfs_readahead`). So each function takes the thread's time
//! and moves it on.

mod blocks;
mod metadata;
mod requests;

use std::collections::HashMap;

use crate::device::Device;
use crate::geometry::{Extent, FileGeometry, Geometry, InodeGeometryKind};
use crate::machine::Machine;
use crate::medium::Medium;
use crate::pages::Pages;
use crate::prediction::Causes;
use crate::readahead::{OpenFile, Window};
use crate::rules::Rules;
use crate::slots::Slots;
use crate::unpacked;

const PAGE_BYTES: u64 = 4096;
/// Pages that a read takes from the page cache at once (`PAGEVEC_SIZE`).
const BATCH_PAGES: u64 = 31;
/// Blocks of readahead that the kernel's `SquashFS` asks for when it is mounted.
const READAHEAD_BLOCKS: u64 = 4;

/// A mounted image.
#[derive(Debug)]
pub(crate) struct Kernel<'a> {
    geometry: &'a Geometry,
    /// By place, where files begin whose pages lie one behind the other.
    starts: Option<&'a [u64]>,
    machine: &'a Machine,
    rules: Rules,
    /// Pages of readahead.
    readahead_pages: u64,
    pub(crate) device: Device,
    pages: Pages,
    metadata: Slots,
    fragments: Slots,
    /// Of the process that is asked, if one is.
    kept: Option<requests::Kept>,
    /// When each decompressor is free.
    decompressors: Vec<f64>,
    /// By thread and file, of those that read.
    readers: HashMap<(u32, usize), OpenFile>,
    /// By file, of those that map it. Processes that map a file again count together.
    mappings: HashMap<usize, OpenFile>,
    /// By where a block list begins, how many metadata blocks of it the kernel's index knows
    /// (`fill_meta_index`).
    indexed: HashMap<(usize, u32), usize>,
    pub(crate) causes: Causes,
    pub(crate) metadata_reads: u64,
    pub(crate) metadata_bytes: u64,
    pub(crate) decompressed_bytes: u64,
    pub(crate) page_cache_bytes: u64,
}

impl<'a> Kernel<'a> {
    /// Mounts an image: that leaves the root's inode and the ids in the cache of metadata blocks.
    pub(crate) fn mount(
        geometry: &'a Geometry,
        medium: &Medium,
        machine: &'a Machine,
        rules: Rules,
    ) -> Self {
        let block_pages = match rules.kept_bytes {
            Some(_) => 1,
            None => u64::from(geometry.block_size.bytes()) / PAGE_BYTES,
        };
        let least = if rules.fills_blocks {
            READAHEAD_BLOCKS * block_pages
        } else {
            0
        };
        let count = rules.decompressors.count(machine.cores);
        let mut kernel = Self {
            geometry,
            starts: None,
            machine,
            rules,
            readahead_pages: medium
                .mounted_readahead_bytes
                .map_or((medium.readahead_bytes / PAGE_BYTES).max(least), |bytes| {
                    bytes / PAGE_BYTES
                }),
            device: Device::new(*medium),
            pages: Pages::new(block_pages),
            metadata: Slots::new(rules.metadata_slots),
            fragments: Slots::new(rules.fragment_slots),
            kept: rules.kept_bytes.map(requests::Kept::new),
            decompressors: vec![0.0; usize::try_from(count).unwrap_or(1)],
            readers: HashMap::new(),
            mappings: HashMap::new(),
            indexed: HashMap::new(),
            causes: Causes::default(),
            metadata_reads: 0,
            metadata_bytes: 0,
            decompressed_bytes: 0,
            page_cache_bytes: 0,
        };
        if let Some(tree) = &geometry.hash_tree {
            let verify_bytes_per_s = machine.speeds.verify_bytes_per_s;
            kernel.device.read_through(tree, verify_bytes_per_s);
        }
        kernel.remember_mount();
        kernel
    }

    /// Says where files begin that are not compressed.
    pub(crate) fn lies_at(&mut self, starts: Option<&'a [u64]>) {
        self.starts = starts;
    }

    /// A data block of a file; none where its tail end is.
    fn block(&self, place: usize, file: &FileGeometry, block: u64) -> Option<Extent> {
        match self.starts {
            Some(starts) => unpacked::page(*starts.get(place)?, file, block),
            None => file.block(block).copied(),
        }
    }

    fn file(&self, place: usize) -> Option<&'a FileGeometry> {
        match &self.geometry.places.get(place)?.kind {
            InodeGeometryKind::File(file) => Some(file),
            _ => None,
        }
    }

    /// A call that reads pages of a file (`filemap_read`).
    pub(crate) fn read(&mut self, now_s: &mut f64, pid: u32, place: usize, pages: (u64, u64)) {
        let Some(file) = self.file(place) else {
            return;
        };
        let end = pages.1.saturating_add(1).min(file.page_count());
        let mut open = self
            .readers
            .remove(&(pid, place))
            .unwrap_or_else(OpenFile::new);
        let mut page = pages.0;
        while page < end {
            if self.pages.ready_s(place, page).is_none() {
                let before = self.pages.present_before(place, page, self.readahead_pages);
                let window = open.miss(page, end - page, self.readahead_pages, before);
                self.read_window(now_s, place, &mut open, window);
                self.fill_if_absent(now_s, place, page);
            }
            let batch_end = self.batch_end(place, page, end);
            self.wait_for(now_s, place, batch_end - 1);
            if self.pages.take_mark(place, batch_end - 1) {
                self.reach_mark(
                    now_s,
                    place,
                    &mut open,
                    batch_end - 1,
                    end - (batch_end - 1),
                );
            }
            page = batch_end;
        }
        open.note_read(end);
        self.readers.insert((pid, place), open);
    }

    /// The page behind those that a read takes at once: they are there, and the last may be marked.
    fn batch_end(&self, place: usize, page: u64, end: u64) -> u64 {
        let end = end.min(page + BATCH_PAGES);
        let is_last = |next: &u64| {
            self.pages.is_marked(place, next - 1) || self.pages.ready_s(place, *next).is_none()
        };
        (page + 1..end).find(is_last).unwrap_or(end)
    }

    /// A page fault (`filemap_fault`).
    pub(crate) fn fault(&mut self, now_s: &mut f64, pid: u32, place: usize, page: u64) {
        let Some(file) = self.file(place) else {
            return;
        };
        if page >= file.page_count() {
            return;
        }
        // What is mapped was read before, by the same open file: the header of a program.
        let read = || self.readers.get(&(pid, place)).cloned();
        let mut open = self
            .mappings
            .remove(&place)
            .or_else(read)
            .unwrap_or_else(OpenFile::new);
        if self.pages.ready_s(place, page).is_some() {
            open.note_hits(1);
            self.wait_for(now_s, place, page);
            if self.pages.take_mark(place, page) {
                self.reach_mark(now_s, place, &mut open, page, self.readahead_pages);
            }
        } else {
            let is_in = |run: &&(u64, u64)| (run.0..=run.1).contains(&page);
            let code = file.executable.iter().find(is_in).map(|run| run.1);
            if let Some(window) = open.fault(page, self.readahead_pages, code) {
                self.read_window(now_s, place, &mut open, window);
            }
            self.fill_if_absent(now_s, place, page);
        }
        self.mappings.insert(place, open);
    }

    /// A window around a fault whose pages are mapped if they are there: one of them is needed, and
    /// it is not known which, nor how many later. Nothing is read if a quarter of them is absent at
    /// most: of the shares that were tried, that one came nearest to starts of python3 and git from
    /// images with blocks of 16 KiB.
    pub(crate) fn map(
        &mut self,
        now_s: &mut f64,
        pid: u32,
        place: usize,
        (first, last): (u64, u64),
    ) {
        let Some(file) = self.file(place) else {
            return;
        };
        let last = last.min(file.page_count().saturating_sub(1));
        let mut absent = None;
        let (mut present_count, mut absent_count) = (0_u32, 0_u32);
        for page in first..=last {
            if self.pages.ready_s(place, page).is_some() {
                present_count += 1;
            } else {
                absent_count += 1;
                absent = absent.or(Some(page));
            }
        }
        match absent {
            Some(page) if absent_count * 3 > present_count => self.fault(now_s, pid, place, page),
            _ => {
                if let Some(open) = self.mappings.get_mut(&place) {
                    open.note_hits(present_count);
                }
                self.wait_for(now_s, place, first);
            }
        }
    }

    fn reach_mark(
        &mut self,
        now_s: &mut f64,
        place: usize,
        open: &mut OpenFile,
        page: u64,
        count: u64,
    ) {
        let next = self.pages.next_absent(place, page, self.readahead_pages);
        if let Some(window) = open.reach_mark(page, count, self.readahead_pages, next) {
            self.read_window(now_s, place, open, window);
        }
    }

    /// Reads what of a window is absent (`page_cache_ra_unbounded`), whole blocks of it.
    fn read_window(&mut self, now_s: &mut f64, place: usize, open: &mut OpenFile, window: Window) {
        let Some(file) = self.file(place) else {
            return;
        };
        let end = window
            .start
            .saturating_add(window.pages)
            .min(file.page_count());
        // Where the window is cut at the end of the file, its mark moves forward with it.
        let mark = end
            .checked_sub(window.ahead)
            .filter(|mark| *mark >= window.start);
        let mut page = window.start;
        while page < end {
            let block_end = (self.pages.block_of(page) + 1) * self.block_pages();
            if self.pages.ready_s(place, page).is_some() {
                page = block_end;
                continue;
            }
            let absent_end = self.absent_end(place, page, end);
            if let Some(mark) = mark.filter(|mark| (page..absent_end).contains(mark)) {
                self.pages.mark(place, mark);
            }
            let grown = self.grown_end(place, page, absent_end);
            open.expand(window, grown - absent_end);
            self.fill_blocks(now_s, place, page, grown);
            page = absent_end.max(block_end);
        }
    }

    /// Pages that come into memory together: those of a block, or single ones that a process is
    /// asked for.
    fn block_pages(&self) -> u64 {
        self.pages.block_pages()
    }

    /// Where the absent pages from `page` on end.
    fn absent_end(&self, place: usize, page: u64, end: u64) -> u64 {
        let first = self.pages.block_of(page);
        let mut blocks = first..=self.pages.block_of(end - 1);
        let present = blocks.find(|block| self.pages.has_block(place, *block));
        present.map_or(end, |block| block * self.block_pages())
    }

    /// Where a window ends once it has grown to whole blocks (`readahead_expand`): the kernel's
    /// `(len | mask) + 1` takes one block more if it ended with a block already.
    fn grown_end(&self, place: usize, page: u64, end: u64) -> u64 {
        if !self.rules.fills_blocks {
            return end;
        }
        let block_pages = self.block_pages();
        let first = self.pages.block_of(page) * block_pages;
        let wanted = first + ((end - first) / block_pages + 1) * block_pages;
        let mut grown = end;
        while grown < wanted {
            let block = self.pages.block_of(grown);
            if grown.is_multiple_of(block_pages) && self.pages.has_block(place, block) {
                break;
            }
            grown = ((block + 1) * block_pages).min(wanted);
        }
        grown
    }

    /// Waits until a page is there that another thread is reading.
    fn wait_for(&mut self, now_s: &mut f64, place: usize, page: u64) {
        let ready_s = self.pages.ready_s(place, page).unwrap_or(*now_s);
        if ready_s > *now_s {
            self.causes.data_wait_s += ready_s - *now_s;
            *now_s = ready_s;
        }
    }
}
