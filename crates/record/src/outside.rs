//! What a start read, seen from outside of the machine that it ran in: from requests of a disk.
//!
//! The disk shows an image in which each inode, each listing and each page of a file lies at pages
//! of its own, stored as it is ([`PAGE`], [`FIRST_BYTE`], [`END_BYTES`] say how it is laid out).
//! Its blocks have the size of a page, so whoever reads one page reads no other, and a request
//! names what was wanted. The kernel's readahead is the exception: it fetches pages that nobody
//! asked for. [`without_readahead`] turns it off before anything is mounted.

mod initrd;
mod pages;

use coldpress_host::{DiskRead, DiskReads, FIRST_ACCESSES_MAX, RawEvent, RawKind, Recording};
use coldpress_image::{Error, Image};
use coldpress_trace::{Access, Coverage, Event, SEARCHES_IN_VAIN_MAX};

pub use initrd::without_readahead;
use pages::PageMap;

use crate::{Recorded, events};

/// Bytes of a data block, at multiples of which files begin.
pub const PAGE: u64 = coldpress_trace::PAGE_SIZE_BYTES;
/// Image byte at which the first file begins: programs that look for file systems read here and
/// there before it (libblkid up to 2 MiB).
pub const FIRST_BYTE: u64 = 4 << 20;
/// Zeros after the image, since such programs look at the end of a disk as well.
pub const END_BYTES: u64 = 1 << 20;

/// What was accessed, in order, and how many accesses are not told because there were too many.
///
/// * `start_byte`: of the disk, at which the image begins.
///
/// # Errors
///
/// As [`coldpress_image::walk`].
///
/// # Cost
///
/// Reads all metadata of the image; holds a path for each inode.
pub fn accesses(
    disk: &DiskReads,
    image: &Image,
    start_byte: u64,
) -> Result<(Vec<Event>, u64), Error> {
    let map = PageMap::new(image)?;
    let mut raw = Vec::new();
    let mut seen = Seen::default();
    for read in &disk.reads {
        first_accesses(*read, start_byte, &map, &mut seen, &mut raw);
    }
    part_from_expansion(&mut raw, &map);
    let kept = usize::try_from(FIRST_ACCESSES_MAX).unwrap_or(usize::MAX);
    let lost = disk.lost + raw.len().saturating_sub(kept) as u64;
    raw.truncate(kept);
    let recorded = Recorded {
        map: map.metadata(),
        // Only for reads that the kernel does not tell of; here all are told.
        size_bytes: &|_| None,
        block_size: image.superblock().block_size,
    };
    let recording = Recording {
        events: raw,
        lost_events: lost,
    };
    let mut events = events(&recording, &recorded);
    // What looked for a file system before the mount, which reads the inode of the root first.
    let is_mount = |event: &Event| event.access == Access::Lookup && event.path == b"/";
    let mounted = events.iter().position(is_mount).unwrap_or(0);
    events.drain(..mounted);
    Ok((events, lost))
}

/// Tells what was surely wanted from what a kernel adds.
///
/// Where blocks have the size of a page, Linux (since 5.19) answers read(2) with two of them, as it
/// rounds the length up to the next block even if it is a whole one (`squashfs_readahead`). A page
/// fault brings one. So of pages that came one after the other and are even in number, the last one
/// is only perhaps wanted, unless the file ends there.
fn part_from_expansion(raw: &mut Vec<RawEvent>, map: &PageMap) {
    let mut parted = Vec::with_capacity(raw.len());
    let mut pages = 0;
    for (place, event) in raw.iter().enumerate() {
        parted.push(*event);
        let RawKind::Read {
            inode,
            first_page,
            last_page,
        } = event.kind
        else {
            pages = 0;
            continue;
        };
        pages += last_page - first_page + 1;
        let next = raw.get(place + 1).map(|next| next.kind);
        let goes_on = matches!(next, Some(RawKind::Read { inode: other, first_page, .. })
            if other == inode && first_page == last_page + 1);
        if goes_on {
            continue;
        }
        if pages % 2 == 0 && !map.ends_with(inode, last_page) {
            parted.pop();
            let part = |kind| RawEvent { kind, ..*event };
            if first_page < last_page {
                let last_page = last_page - 1;
                parted.push(part(RawKind::Read {
                    inode,
                    first_page,
                    last_page,
                }));
            }
            parted.push(part(RawKind::Map {
                inode,
                first_page: last_page,
                last_page,
            }));
        }
        pages = 0;
    }
    *raw = parted;
}

/// What was read before.
#[derive(Default)]
struct Seen {
    bytes: Coverage,
    searches: u64,
}

/// Adds what a request reads for the first time. A guest with little memory reads pages again,
/// which says nothing; a listing is read again for each name that is not in it.
fn first_accesses(
    read: DiskRead,
    disk_start: u64,
    map: &PageMap,
    seen: &mut Seen,
    raw: &mut Vec<RawEvent>,
) {
    let end = (read.start_byte.saturating_add(read.len_bytes)).saturating_sub(disk_start);
    let start = read.start_byte.saturating_sub(disk_start);
    let Some(last) = end.checked_sub(1).filter(|_| start < end) else {
        return;
    };
    let mut push = |kind| {
        raw.push(RawEvent {
            time_us: read.time_us,
            pid: 0,
            kind,
        });
    };
    let mut is_new = false;
    seen.bytes.cover(start, last, |_, _| is_new = true);
    if map.is_metadata(start) {
        let is_search = !is_new && map.is_listing(start) && seen.searches < SEARCHES_IN_VAIN_MAX;
        seen.searches += u64::from(is_search);
        if is_new || is_search {
            push(RawKind::DeviceRead {
                start_byte: start,
                len_bytes: end - start,
            });
        }
    } else if is_new {
        for (inode, first_page, last_page) in map.pages(start, end) {
            push(RawKind::Read {
                inode,
                first_page,
                last_page,
            });
        }
    }
}
