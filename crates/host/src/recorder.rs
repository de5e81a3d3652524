//! The recorder: which pages of which inodes a start uses, and which image bytes the kernel reads.
//!
//! It listens to five events of the kernel in a trace instance of its own, filtered to one mount:
//!
//! * `mm_filemap_get_pages`: `read(2)` asked for these pages, cached or not;
//! * `mm_filemap_add_to_page_cache`: the kernel makes room for these pages, since a read that reaches
//!   past the end of a file and its page beyond does without the event before;
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
mod format;
mod page;

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::cache::kernel_page_size_in_pages;
use crate::tracefs::{Instance, Tracefs};
use crate::{Error, Janitor, LoopDevice, Mount};
use event::{Decoder, Stamped};
pub use event::{RawEvent, RawKind};
use page::{Damage, PageLayout};

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

/// How often the ring buffers are emptied: often enough for them not to fill up, seldom enough
/// not to disturb the start.
const READ_PAUSE: Duration = Duration::from_millis(20);

/// Events that are kept at most, 40 bytes each; those that follow are counted as lost.
const MAX_EVENTS: usize = 8_000_000;

/// The description of a page has some 200 bytes.
const MAX_HEADER_BYTES: usize = 4096;

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
    /// Ordered by time. Uses of pages that repeat the event before on the same processor are left out.
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
        janitor: &Janitor,
    ) -> Result<Self, Error> {
        Self::start_with(mount, loop_device, janitor, Detail::Accesses)
    }

    /// Starts to record as [`Recorder::start`] does, and also when each read of the loop device was done and,
    /// where the kernel tells (x86), the addresses at which programs faulted.
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
        Self::start_with(mount, loop_device, janitor, Detail::Everything)
    }

    fn start_with(
        mount: &Mount,
        loop_device: &LoopDevice,
        janitor: &Janitor,
        detail: Detail,
    ) -> Result<Self, Error> {
        let tracefs = match janitor.tracefs() {
            Some(tracefs) => tracefs.clone(),
            None => Tracefs::open()?,
        };
        let instance = Instance::create(&tracefs, janitor)?;
        let decoder = listen(&instance, mount, loop_device, detail)?;
        let layout = page_layout(&tracefs)?;
        let reader = Reader::start(&instance, decoder, layout)?;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// What was used.
    Accesses,
    /// When reads were done and what programs touched, too.
    Everything,
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

/// The events of a mount and its device.
fn wanted(mount: &Mount, loop_device: &LoopDevice, detail: Detail) -> Vec<Wanted> {
    // The kernel's own device number: 20 bits of minor, unlike that of stat(2).
    let number = |(major, minor): (u32, u32)| u64::from(major) << 20 | u64::from(minor);
    let event = |group, name, filter, is_optional| Wanted {
        group,
        name,
        filter,
        is_optional,
    };
    let of_mount = format!("s_dev == {}", number(mount.device_number()));
    let of_device = format!("dev == {}", number(loop_device.device_number()));
    let filemap = FILEMAP_EVENTS.map(|name| event("filemap", name, of_mount.clone(), false));
    let mut wanted = Vec::from(filemap);
    wanted.push(event("block", "block_bio_queue", of_device.clone(), false));
    if detail == Detail::Everything {
        wanted.push(event("block", "block_rq_complete", of_device, false));
        let faults = event("exceptions", "page_fault_user", NOT_MAPPED.to_owned(), true);
        wanted.push(faults);
    }
    wanted
}

/// Sets an instance up, still silent.
fn listen(
    instance: &Instance,
    mount: &Mount,
    loop_device: &LoopDevice,
    detail: Detail,
) -> Result<Decoder, Error> {
    instance.set("tracing_on", "0")?;
    // The clock of `CLOCK_MONOTONIC`, so that times compare with those of other measurements.
    instance.set("trace_clock", "mono")?;
    let processors = processors(instance)?.len().max(1);
    let buffer_kib = (MAX_BUFFERS_KIB / processors).clamp(MIN_BUFFER_KIB, BUFFER_KIB);
    instance.set("buffer_size_kb", &buffer_kib.to_string())?;

    let mut decoder = Decoder::default();
    for event in wanted(mount, loop_device, detail) {
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

/// The thread that empties the ring buffers.
#[derive(Debug)]
struct Reader {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Collected, Error>>>,
}

#[derive(Debug, Default)]
struct Collected {
    events: Vec<Stamped>,
    lost: u64,
}

impl Reader {
    fn start(instance: &Instance, decoder: Decoder, layout: PageLayout) -> Result<Self, Error> {
        let mut buffers = Vec::new();
        for path in processors(instance)? {
            let path = path.join("trace_pipe_raw");
            let file = OpenOptions::new()
                .read(true)
                .custom_flags(libc::O_NONBLOCK)
                .open(&path)
                .map_err(Error::io("open", &path))?;
            buffers.push(RingBuffer {
                path,
                file,
                sieve: Sieve::default(),
            });
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut collected = Collected::default();
            let mut page = vec![0; layout.page_bytes()];
            loop {
                // Asked before reading, so that everything up to the stop is read.
                let last = stopped.load(Ordering::Acquire);
                for buffer in &mut buffers {
                    buffer.empty(&mut page, &layout, &decoder, &mut collected)?;
                }
                if last {
                    return Ok(collected);
                }
                sleep(READ_PAUSE);
            }
        });
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }

    /// Everything up to now; nothing the second time.
    fn stop(&mut self) -> Result<Collected, Error> {
        self.stop.store(true, Ordering::Release);
        let Some(thread) = self.thread.take() else {
            return Ok(Collected::default());
        };
        // A panic in the thread is a bug of ours and goes on here.
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The events of one processor.
#[derive(Debug)]
struct RingBuffer {
    path: PathBuf,
    file: File,
    sieve: Sieve,
}

/// What of the events of a processor is kept.
#[derive(Debug, Default)]
struct Sieve {
    last: Option<(u32, RawKind)>,
    /// The last fault of a program, until it is known whether it is one on the recorded mount.
    fault: Option<Stamped>,
}

impl Sieve {
    /// Keeps an event, unless it says nothing new; a fault of a program only if what the kernel does
    /// about it in the recorded mount follows, as it does at once and on the same processor.
    fn take(&mut self, event: Stamped, collected: &mut Collected) {
        if let RawKind::UserFault { .. } = event.kind {
            self.fault = Some(event);
            return;
        }
        let is_answered = |fault: &Stamped| fault.pid == event.pid && event.kind.answers_fault();
        let fault = self.fault.take().filter(is_answered);
        let seen = Some((event.pid, event.kind));
        if fault.is_none() && self.last == seen && event.kind.is_idempotent() {
            return;
        }
        self.last = seen;
        for event in fault.into_iter().chain([event]) {
            if collected.events.len() < MAX_EVENTS {
                collected.events.push(event);
            } else {
                collected.lost += 1;
            }
        }
    }
}

impl RingBuffer {
    /// Reads all pages there are, without waiting for more.
    fn empty(
        &mut self,
        page: &mut [u8],
        layout: &PageLayout,
        decoder: &Decoder,
        collected: &mut Collected,
    ) -> Result<(), Error> {
        loop {
            let len = match self.file.read(page) {
                Ok(0) => return Ok(()),
                Ok(len) => len,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::io("read", &self.path)(error)),
            };
            let damaged = |damage: Damage| damage.located(&self.path);
            for record in layout.records(&page[..len]).map_err(damaged)? {
                let record = record.map_err(damaged)?;
                let Some(event) = decoder.decode(&record).map_err(damaged)? else {
                    continue;
                };
                self.sieve.take(event, collected);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_programs_are_kept_if_they_are_answered_and_reads_each_time() {
        let event = |pid, kind| Stamped {
            time_ns: 0,
            pid,
            kind,
        };
        let fault = |pid| {
            let (address, instruction) = (u64::from(pid), 0);
            event(
                pid,
                RawKind::UserFault {
                    address,
                    instruction,
                },
            )
        };
        let page = |pid| event(pid, RawKind::Fault { inode: 1, page: 2 });
        let read = event(
            1,
            RawKind::DeviceRead {
                start_byte: 0,
                len_bytes: 512,
            },
        );
        let mut sieve = Sieve::default();
        let mut collected = Collected::default();
        for event in [
            // Of another thread, and of memory that is no file's.
            fault(1),
            fault(2),
            page(2),
            page(2),
            fault(2),
            page(2),
            fault(1),
            page(2),
            fault(1),
            read,
            read,
        ] {
            sieve.take(event, &mut collected);
        }
        let expected = [fault(2), page(2), fault(2), page(2), read, read];
        assert_eq!(collected.events, expected);
    }

    #[test]
    fn lost_events_are_added_up() {
        let stats = "entries: 129\noverrun: 3\ncommit overrun: 4\nbytes: 5820\n\
                     oldest event ts:     0.000000\ndropped events: 10\nread events: 99\n";
        assert_eq!(parse_lost(stats), 17);
        assert_eq!(parse_lost("overrun: x\noverrun\n"), 0);
    }
}
