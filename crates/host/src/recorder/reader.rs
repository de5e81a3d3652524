//! The thread that empties the kernel's ring buffers, and what it keeps.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::Duration;

use super::event::{Decoder, RawKind, Stamped};
use super::first::FirstAccesses;
use super::page::{Damage, PageLayout};
use super::{FIRST_ACCESSES_MAX, Keep, processors};
use crate::Error;
use crate::tracefs::Instance;

/// How often the ring buffers are emptied: often enough for them not to fill up, seldom enough
/// not to disturb the start.
const READ_PAUSE: Duration = Duration::from_millis(20);

/// Events that are kept at most of all, 40 bytes each; those that follow are counted as lost.
const EVENTS_MAX: usize = 8_000_000;

/// The thread that empties the ring buffers.
#[derive(Debug)]
pub(super) struct Reader {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Collected, Error>>>,
}

/// What came out of the ring buffers so far.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) events: Vec<Stamped>,
    pub(super) lost: u64,
    /// Nothing if all events are kept.
    first: Option<FirstAccesses>,
    /// Read in this round: the events of one processor after the other.
    round: Vec<Stamped>,
}

impl Collected {
    pub(super) fn new(keep: Keep) -> Self {
        Self {
            events: Vec::new(),
            lost: 0,
            first: match keep {
                Keep::All => None,
                Keep::FirstAccesses { each_read_of } => Some(FirstAccesses::new(each_read_of)),
            },
            round: Vec::new(),
        }
    }

    /// Keeps what is to be kept of a round. In the order of time, or an access would count as the
    /// first because its processor was read first.
    fn end_round(&mut self) {
        self.round.sort_by_key(|event| event.time_ns);
        let limit = match &self.first {
            Some(_) => usize::try_from(FIRST_ACCESSES_MAX).unwrap_or(EVENTS_MAX),
            None => EVENTS_MAX,
        };
        for event in self.round.drain(..) {
            // Once it is full, what is first is no longer told apart, which would take memory.
            if self.events.len() >= limit {
                self.lost += 1;
            } else if self
                .first
                .as_mut()
                .is_none_or(|first| first.keeps(event.kind))
            {
                self.events.push(event);
            }
        }
    }
}

impl Reader {
    pub(super) fn start(
        instance: &Instance,
        decoder: Decoder,
        layout: PageLayout,
        mut collected: Collected,
    ) -> Result<Self, Error> {
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
            let mut page = vec![0; layout.page_bytes()];
            loop {
                // Asked before reading, so that everything up to the stop is read.
                let last = stopped.load(Ordering::Acquire);
                for buffer in &mut buffers {
                    buffer.empty(&mut page, &layout, &decoder, &mut collected.round)?;
                }
                collected.end_round();
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
    pub(super) fn stop(&mut self) -> Result<Collected, Error> {
        self.stop.store(true, Ordering::Release);
        let Some(thread) = self.thread.take() else {
            return Ok(Collected::new(Keep::All));
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
    /// Keeps an event, unless it says nothing new; a fault of a program only if what the kernel
    /// does about it in the recorded mount follows, as it does at once and on the same processor.
    fn take(&mut self, event: Stamped, round: &mut Vec<Stamped>) {
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
        round.extend(fault.into_iter().chain([event]));
    }
}

impl RingBuffer {
    /// Reads all pages there are, without waiting for more.
    fn empty(
        &mut self,
        page: &mut [u8],
        layout: &PageLayout,
        decoder: &Decoder,
        round: &mut Vec<Stamped>,
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
                self.sieve.take(event, round);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(time_ns: u64, page: u64) -> Stamped {
        Stamped {
            time_ns,
            pid: 1,
            kind: RawKind::Fault { inode: 1, page },
        }
    }

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
        let mut round = Vec::new();
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
            sieve.take(event, &mut round);
        }
        let expected = [fault(2), page(2), fault(2), page(2), read, read];
        assert_eq!(round, expected);
    }

    #[test]
    fn of_a_round_the_earliest_access_is_the_first() {
        for (keep, expected) in [
            (
                Keep::FirstAccesses { each_read_of: 0..0 },
                &[(1, 5), (2, 6), (7, 8)][..],
            ),
            (Keep::All, &[(1, 5), (2, 6), (3, 5), (6, 6), (7, 8)]),
        ] {
            let mut collected = Collected::new(keep.clone());
            // Of one processor, then of the other; and the next round.
            for round in [&[(3, 5), (1, 5), (2, 6)][..], &[(7, 8), (6, 6)]] {
                let events = round.iter().map(|&(time_ns, page)| fault(time_ns, page));
                collected.round.extend(events);
                collected.end_round();
            }
            let kept = collected.events.iter().map(|event| match event.kind {
                RawKind::Fault { page, .. } => (event.time_ns, page),
                _ => (0, 0),
            });
            assert_eq!(kept.collect::<Vec<_>>(), expected, "{keep:?}");
            assert_eq!(collected.lost, 0);
        }
    }
}
