//! Entries of archives that a start read: what a read inside of one large file was for.

use std::io;

use coldpress_archive::{Archive, Part};
use coldpress_format::{Body, File};
use coldpress_host::{RawEvent, RawKind};
use coldpress_image::{Image, ReadAt};
use coldpress_trace::PAGE_SIZE_BYTES;
use serde::Serialize;

use crate::device_read::DeviceRead;
use crate::file_cost::payer;
use crate::image_map::{BlockKind, ImageMap};

/// Archives that are looked into: those that cost most.
const ARCHIVES_MAX: usize = 20;

/// What a start read of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryCost {
    /// The archive, its index in [`ImageMap::files`].
    #[serde(skip)]
    pub file: usize,
    /// Its name in the archive.
    #[serde(skip)]
    pub name: Vec<u8>,
    /// Bytes of the archive that belong to it.
    pub size_bytes: u64,
    /// When it was first touched.
    pub first_us: u64,
    /// How often its pages were read or mapped.
    pub accesses: u64,
    /// Reads of the device that were made for it.
    pub device_reads: u64,
    /// Their bytes, which may hold other entries too.
    pub read_bytes: u64,
    /// What threads waited for them.
    pub waited_us: u64,
}

/// A file of an image as bytes.
struct InImage<'a> {
    image: &'a Image,
    file: &'a File,
}

impl ReadAt for InImage<'_> {
    fn read_at(&self, buf: &mut [u8], start: u64) -> io::Result<usize> {
        let read = self.image.read_at(self.file, start, buf);
        read.map_err(io::Error::other)
    }

    fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.file.size_bytes)
    }
}

/// A page of an archive was asked for.
struct Access {
    time_us: u64,
    page: u64,
}

/// The entries of archives that were touched, those that were waited for longest first.
///
/// * `files`: the files that cost most, in that order.
///
/// # Cost
///
/// Reads the directories of up to 20 archives; one pass over the events for each.
pub(crate) fn archive_costs(
    image: &Image,
    map: &ImageMap,
    files: &[usize],
    reads: &[DeviceRead],
    events: &[RawEvent],
) -> Vec<EntryCost> {
    let path = |file: usize| map.files().get(file).map(|mapped| &*mapped.path);
    let likely = files
        .iter()
        .copied()
        .filter(|file| path(*file).is_some_and(Archive::is_likely));
    let mut costs = Vec::new();
    for file in likely.take(ARCHIVES_MAX) {
        let found = path(file).and_then(|path| image.find(path).ok().flatten());
        let Some(Body::File(body)) = found.map(|(_, inode)| inode.body) else {
            continue;
        };
        // What cannot be read as an archive is a file like others.
        if let Ok(Some(archive)) = Archive::read(&InImage { image, file: &body }) {
            let accesses = accesses(events, map, file);
            costs.extend(costs_of(&archive, file, &accesses, reads, map));
        }
    }
    costs.sort_by_key(|cost| {
        (
            std::cmp::Reverse((cost.waited_us, cost.device_reads)),
            cost.first_us,
        )
    });
    costs
}

fn accesses(events: &[RawEvent], map: &ImageMap, wanted: usize) -> Vec<Access> {
    let mut accesses = Vec::new();
    for event in events {
        let (inode, first, last) = match event.kind {
            RawKind::Read {
                inode,
                first_page,
                last_page,
            } => (inode, first_page, last_page),
            RawKind::Fault { inode, page } => (inode, page, page),
            _ => continue,
        };
        if map.file_of_inode(inode) == Some(wanted) {
            let pages = map
                .files()
                .get(wanted)
                .map_or(0, crate::MappedFile::page_count);
            let time_us = event.time_us;
            accesses.extend((first..=last.min(pages)).map(|page| Access { time_us, page }));
        }
    }
    accesses
}

fn costs_of(
    archive: &Archive,
    file: usize,
    accesses: &[Access],
    reads: &[DeviceRead],
    map: &ImageMap,
) -> Vec<EntryCost> {
    let mut parts: Vec<Part<'_>> = archive.parts();
    parts.retain(|part| !part.range.is_empty());
    parts.sort_by_key(|part| part.range.start);
    let cost = |part: &Part<'_>| EntryCost {
        file,
        name: part.name.to_vec(),
        size_bytes: part.range.end - part.range.start,
        first_us: u64::MAX,
        accesses: 0,
        device_reads: 0,
        read_bytes: 0,
        waited_us: 0,
    };
    let mut costs: Vec<EntryCost> = parts.iter().map(cost).collect();
    // The entry that holds most of a page of which only the number is known.
    let entry_of = |page: u64| {
        let start = page * PAGE_SIZE_BYTES;
        let from = parts.partition_point(|part| part.range.end <= start);
        let end = start + PAGE_SIZE_BYTES;
        let on_it = parts.iter().enumerate().skip(from);
        let on_it = on_it.take_while(|(_, part)| part.range.start < end);
        let share = |part: &Part<'_>| part.range.end.min(end) - part.range.start.max(start);
        on_it
            .max_by_key(|(_, part)| share(part))
            .map(|(index, _)| index)
    };
    for access in accesses {
        if let Some(cost) = entry_of(access.page).and_then(|index| costs.get_mut(index)) {
            cost.accesses += 1;
            cost.first_us = cost.first_us.min(access.time_us);
        }
    }
    for read in reads.iter().filter(|read| payer(map, read) == Some(file)) {
        let page = page_wanted(read, accesses, map);
        if let Some(cost) = page
            .and_then(entry_of)
            .and_then(|index| costs.get_mut(index))
        {
            cost.device_reads += 1;
            cost.read_bytes += read.len_bytes;
            cost.waited_us += read.waited_us;
        }
    }
    costs.retain(|cost| cost.accesses > 0 || cost.device_reads > 0);
    costs
}

/// The page for which a read was made: of those in its blocks, the one asked for at about its time.
fn page_wanted(read: &DeviceRead, accesses: &[Access], map: &ImageMap) -> Option<u64> {
    let pages = read
        .blocks
        .iter()
        .filter_map(|&block| match map.blocks().get(block)?.kind {
            BlockKind::Data { index, .. } => Some(map.pages_of(index)),
            BlockKind::Fragment(_) | BlockKind::Metadata(_) => None,
        });
    let pages: Vec<(u64, u64)> = pages.collect();
    let is_in = |access: &&Access| {
        pages
            .iter()
            .any(|(first, last)| (first..=last).contains(&&access.page))
    };
    let near = accesses.iter().filter(is_in);
    let near = near.min_by_key(|access| access.time_us.abs_diff(read.time_us));
    near.map(|access| access.page)
}
