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
    /// Ordered by time. Events that repeat the one before on the same processor are left out.
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
        let tracefs = match janitor.tracefs() {
            Some(tracefs) => tracefs.clone(),
            None => Tracefs::open()?,
        };
        let instance = Instance::create(&tracefs, janitor)?;
        let decoder = listen(&instance, mount, loop_device)?;
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

/// Sets an instance up, still silent.
fn listen(instance: &Instance, mount: &Mount, loop_device: &LoopDevice) -> Result<Decoder, Error> {
    instance.set("tracing_on", "0")?;
    // The clock of `CLOCK_MONOTONIC`, so that times compare with those of other measurements.
    instance.set("trace_clock", "mono")?;
    let processors = processors(instance)?.len().max(1);
    let buffer_kib = (MAX_BUFFERS_KIB / processors).clamp(MIN_BUFFER_KIB, BUFFER_KIB);
    instance.set("buffer_size_kb", &buffer_kib.to_string())?;

    let mut decoder = Decoder::default();
    let filemap = FILEMAP_EVENTS.map(|name| ("filemap", name, "s_dev", mount.device_number()));
    let block = (
        "block",
        "block_bio_queue",
        "dev",
        loop_device.device_number(),
    );
    for (group, name, field, (major, minor)) in filemap.into_iter().chain([block]) {
        let directory = format!("events/{group}/{name}");
        if !instance.path().join(&directory).is_dir() {
            return Err(Error::Unsupported {
                what: "a kernel event that the recorder needs (filemap:mm_filemap_get_pages, \
                       mm_filemap_fault, mm_filemap_map_pages, mm_filemap_add_to_page_cache, \
                       block:block_bio_queue)",
                advice: "use Linux 6.12 or later",
            });
        }
        let path = instance.path().join(&directory).join("format");
        let text = instance.read(&format!("{directory}/format"))?;
        decoder.learn(name, &text, &path)?;
        // The kernel's own device number: 20 bits of minor, unlike that of stat(2).
        let device = u64::from(major) << 20 | u64::from(minor);
        instance.set(
            &format!("{directory}/filter"),
            &format!("{field} == {device}"),
        )?;
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
                last: None,
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
    last: Option<(u32, RawKind)>,
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
                let seen = Some((event.pid, event.kind));
                if self.last == seen {
                    continue;
                }
                self.last = seen;
                if collected.events.len() < MAX_EVENTS {
                    collected.events.push(event);
                } else {
                    collected.lost += 1;
                }
            }
        }
    }
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
