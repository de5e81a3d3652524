//! The recorder: which pages of which inodes a start uses, and which image bytes the kernel reads.
//!
//! It listens to five events of the kernel in a trace instance of its own, filtered to one mount:
//!
//! * `mm_filemap_get_pages`: `read(2)` asked for these pages, cached or not;
//! * `mm_filemap_add_to_page_cache`: the kernel makes room for these pages, since a read that
//!   reaches past the end of a file and its page beyond does without the event before;
//! * `mm_filemap_fault`: a page fault on this page, which the next event could not settle;
//! * `mm_filemap_map_pages`: the window around a fault whose cached pages the kernel maps in
//!   passing, so a page in it may or may not be used;
//! * `block_bio_queue`: `SquashFS` reads these bytes of the image, metadata too.
//!
//! Where a start is to be explained, two more tell when the bytes were there and which addresses
//! programs touched: `block_rq_complete` (`block_bio_complete` is silent for devices with request
//! queues, such as loop devices) and `page_fault_user`.
//!
//! Recording them cost nothing that could be measured. Rejected: fanotify (no offsets, no page
//! faults), `mincore` (it shows read-ahead, not use), ptrace (twice as
//! slow). The kernel's binary pages are read instead of its text, because the text holds the
//! program's name for itself, which may contain anything, even line ends.

mod event;
mod first;
mod format;
mod page;
mod reader;

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::PathBuf;

use rustix::time::{ClockId, clock_gettime};

use crate::cache::kernel_page_size_in_pages;
use crate::tracefs::{Instance, Tracefs};
use crate::{Error, Janitor, LoopDevice, Mount};
use event::Decoder;
pub use event::{RawEvent, RawKind};
use page::PageLayout;
use reader::{Collected, Reader};

/// Of the group `filemap`; all but the last came with Linux 6.12.
pub(crate) const FILEMAP_EVENTS: [&str; 4] = [
    "mm_filemap_get_pages",
    "mm_filemap_fault",
    "mm_filemap_map_pages",
    "mm_filemap_add_to_page_cache",
];

/// Ring buffer of each processor: some 300,000 events of about 50 bytes, far more than come
/// between two reads. All together are kept below [`MAX_BUFFERS_KIB`].
const BUFFER_KIB: usize = 16 << 10;
const MAX_BUFFERS_KIB: usize = 256 << 10;
const MIN_BUFFER_KIB: usize = 1 << 10;

/// First accesses that are kept at most, some 150 bytes each with what tells that they are the
/// first: 300 MB. A start of Chromium has 30,000. All events that follow are counted as lost.
pub const FIRST_ACCESSES_MAX: u64 = 2_000_000;

/// The description of a page has some 200 bytes.
const MAX_HEADER_BYTES: usize = 4096;

/// Which events are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// Each one, up to 8 million.
    All,
    /// Those that tell of a page, or a byte of the image, that no event of the kind told before:
    /// memory is bounded by what there is to be accessed, however long it takes, and by
    /// [`FIRST_ACCESSES_MAX`]. The working set is the same.
    FirstAccesses {
        /// Bytes of the image of which each read is kept, the first [`SEARCHES_IN_VAIN_MAX`] of
        /// those that are not new: where listings lie, each that follows is another name that is
        /// searched.
        ///
        /// [`SEARCHES_IN_VAIN_MAX`]: coldpress_trace::SEARCHES_IN_VAIN_MAX
        each_read_of: Range<u64>,
    },
}

/// A running recorder; stopped and removed on drop.
#[derive(Debug)]
pub struct Recorder {
    // Dropped in this order: an instance cannot be removed while a reader has it open.
    reader: Reader,
    instance: Instance,
    start_ns: u64,
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recording {
    /// Ordered by time. Uses of pages that repeat the event before on the same processor are left
    /// out.
    pub events: Vec<RawEvent>,
    /// Events that the kernel or the recorder had no room for: if not 0, record again.
    pub lost_events: u64,
}

impl Recorder {
    /// Starts to record a mount and its loop device.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] before Linux 6.12; [`Error::System`] or [`Error::Io`] without root.
    ///
    /// # Cost
    ///
    /// 16 MiB of kernel memory for each processor, at most 256 MiB in all; one thread.
    pub fn start(
        mount: &Mount,
        loop_device: &LoopDevice,
        keep: Keep,
        janitor: &Janitor,
    ) -> Result<Self, Error> {
        let (file_system, device) = (mount.device_number(), loop_device.device_number());
        let heard = Heard {
            file_system,
            device: Some(device),
            in_detail: false,
        };
        Self::listen_to(&heard, keep, janitor)
    }

    /// Starts to record as [`Recorder::start`] does with [`Keep::All`], and also when each read of
    /// the loop device was done and, where the kernel tells (x86), the addresses at which programs
    /// faulted.
    ///
    /// # Errors
    ///
    /// As [`Recorder::start`].
    ///
    /// # Cost
    ///
    /// As [`Recorder::start`]; each page fault of the machine is an event that is looked at.
    pub fn start_in_detail(
        mount: &Mount,
        loop_device: &LoopDevice,
        janitor: &Janitor,
    ) -> Result<Self, Error> {
        let heard = Heard {
            file_system: mount.device_number(),
            device: Some(loop_device.device_number()),
            in_detail: true,
        };
        Self::listen_to(&heard, Keep::All, janitor)
    }

    /// Starts to record a file system that somebody else has mounted; what is read from its device
    /// is not told.
    ///
    /// * `file_system`: its major and minor number, as stat(2) tells them.
    ///
    /// # Errors
    ///
    /// As [`Recorder::start`].
    ///
    /// # Cost
    ///
    /// As [`Recorder::start`].
    pub fn start_on(file_system: (u32, u32), keep: Keep, janitor: &Janitor) -> Result<Self, Error> {
        let heard = Heard {
            file_system,
            device: None,
            in_detail: false,
        };
        Self::listen_to(&heard, keep, janitor)
    }

    fn listen_to(heard: &Heard, keep: Keep, janitor: &Janitor) -> Result<Self, Error> {
        let tracefs = match janitor.tracefs() {
            Some(tracefs) => tracefs.clone(),
            None => Tracefs::open()?,
        };
        let instance = Instance::create(&tracefs, janitor)?;
        let decoder = listen(&instance, heard)?;
        let layout = page_layout(&tracefs)?;
        let reader = Reader::start(&instance, decoder, layout, Collected::new(keep))?;
        let start_ns = monotonic_ns();
        instance.set("tracing_on", "1")?;
        Ok(Self {
            reader,
            instance,
            start_ns,
        })
    }

    /// Stops, and hands over what was recorded.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if the kernel wrote what this crate cannot read; [`Error::Io`] if
    /// its buffers could not be read.
    pub fn finish(mut self) -> Result<Recording, Error> {
        self.instance.set("tracing_on", "0")?;
        let mut collected = self.reader.stop()?;
        let overrun = lost_in_kernel(&self.instance)?;
        // Stable: the events of one processor keep their order.
        collected.events.sort_by_key(|event| event.time_ns);
        let start_ns = self.start_ns;
        let pages = kernel_page_size_in_pages();
        let events = collected.events.into_iter();
        Ok(Recording {
            events: events.map(|event| event.since(start_ns, pages)).collect(),
            lost_events: collected.lost + overrun,
        })
    }
}

/// What is listened to.
#[derive(Debug)]
struct Heard {
    /// Major and minor number of what is mounted.
    file_system: (u32, u32),
    /// And of what it is read from.
    device: Option<(u32, u32)>,
    /// When reads were done and what programs touched, too.
    in_detail: bool,
}

/// Faults of programs on addresses that are not mapped: reads, writes and instructions. Those on
/// pages that are mapped and may not be written are no first touch.
const NOT_MAPPED: &str = "error_code == 4 || error_code == 6 || error_code == 20";

/// An event to switch on.
struct Wanted {
    group: &'static str,
    name: &'static str,
    filter: String,
    is_optional: bool,
}

/// The events to switch on.
fn wanted(heard: &Heard) -> Vec<Wanted> {
    // The kernel's own device number: 20 bits of minor, unlike that of stat(2).
    let number = |(major, minor): (u32, u32)| u64::from(major) << 20 | u64::from(minor);
    let event = |group, name, filter, is_optional| Wanted {
        group,
        name,
        filter,
        is_optional,
    };
    let of_mount = format!("s_dev == {}", number(heard.file_system));
    let filemap = FILEMAP_EVENTS.map(|name| event("filemap", name, of_mount.clone(), false));
    let mut wanted = Vec::from(filemap);
    if let Some(device) = heard.device {
        let of_device = format!("dev == {}", number(device));
        wanted.push(event("block", "block_bio_queue", of_device.clone(), false));
        if heard.in_detail {
            wanted.push(event("block", "block_rq_complete", of_device, false));
        }
    }
    if heard.in_detail {
        let faults = event("exceptions", "page_fault_user", NOT_MAPPED.to_owned(), true);
        wanted.push(faults);
    }
    wanted
}

/// Sets an instance up, still silent.
fn listen(instance: &Instance, heard: &Heard) -> Result<Decoder, Error> {
    instance.set("tracing_on", "0")?;
    // The clock of `CLOCK_MONOTONIC`, so that times compare with those of other measurements.
    instance.set("trace_clock", "mono")?;
    let processors = processors(instance)?.len().max(1);
    let buffer_kib = (MAX_BUFFERS_KIB / processors).clamp(MIN_BUFFER_KIB, BUFFER_KIB);
    instance.set("buffer_size_kb", &buffer_kib.to_string())?;

    let mut decoder = Decoder::default();
    for event in wanted(heard) {
        let directory = format!("events/{}/{}", event.group, event.name);
        if !instance.path().join(&directory).is_dir() {
            if event.is_optional {
                continue;
            }
            return Err(Error::Unsupported {
                what: "a kernel event that the recorder needs (filemap:mm_filemap_get_pages, \
                       mm_filemap_fault, mm_filemap_map_pages, mm_filemap_add_to_page_cache, \
                       block:block_bio_queue, block_rq_complete)",
                advice: "use Linux 6.12 or later",
            });
        }
        let path = instance.path().join(&directory).join("format");
        let text = instance.read(&format!("{directory}/format"))?;
        decoder.learn(event.name, &text, &path)?;
        instance.set(&format!("{directory}/filter"), &event.filter)?;
        instance.set(&format!("{directory}/enable"), "1")?;
    }
    Ok(decoder)
}

fn page_layout(tracefs: &Tracefs) -> Result<PageLayout, Error> {
    let path = tracefs.path().join("events/header_page");
    // The kernel gives this file to the first read only, as much as fits.
    let mut text = vec![0; MAX_HEADER_BYTES];
    let len = File::open(&path).and_then(|mut file| file.read(&mut text));
    text.truncate(len.map_err(Error::io("read", &path))?);
    PageLayout::parse(&String::from_utf8_lossy(&text), &path)
}

/// Directories of the ring buffers, one for each processor.
fn processors(instance: &Instance) -> Result<Vec<PathBuf>, Error> {
    let path = instance.path().join("per_cpu");
    let entries = fs::read_dir(&path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(Error::io("list", &path))?;
    let mut paths: Vec<_> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    Ok(paths)
}

/// Events that were overwritten, or for which a processor had no room.
fn lost_in_kernel(instance: &Instance) -> Result<u64, Error> {
    let mut lost = 0;
    for path in processors(instance)? {
        let path = path.join("stats");
        let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        lost += parse_lost(&text);
    }
    Ok(lost)
}

fn parse_lost(stats: &str) -> u64 {
    let counts = stats.lines().filter_map(|line| {
        let (name, count) = line.split_once(": ")?;
        ["overrun", "commit overrun", "dropped events"]
            .contains(&name)
            .then(|| count.trim().parse::<u64>().ok())?
    });
    counts.fold(0, u64::saturating_add)
}

fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::parse_lost;

    #[test]
    fn lost_events_are_added_up() {
        let stats = "entries: 129\noverrun: 3\ncommit overrun: 4\nbytes: 5820\n\
                     oldest event ts:     0.000000\ndropped events: 10\nread events: 99\n";
        assert_eq!(parse_lost(stats), 17);
        assert_eq!(parse_lost("overrun: x\noverrun\n"), 0);
    }
}
