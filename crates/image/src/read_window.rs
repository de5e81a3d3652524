//! How much of an image file is read at once, learned from the speed of the medium.
//!
//! The kernel's readahead of a file does not know that the reader needs single blocks: with the
//! 8 MiB of some disks, a start of Chromium reads 145 MB of an image of which it needs 106, and with
//! none a hard disk moves its head for each block. Where a longer read brings its bytes nearly as
//! soon as a short one, the blocks after the needed one come for nothing, and in an ordered image
//! they are what the start needs next.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What is read at least: several metadata blocks.
const READ_MIN_BYTES: u64 = 32 << 10;
/// Lengths that are tried one after the other.
const LENGTHS_BYTES: [u64; 5] = [READ_MIN_BYTES, 128 << 10, 256 << 10, 512 << 10, 1 << 20];
/// A longer read must bring this many times the bytes in a second. The next length is twice this
/// one, and a part of what it adds is never needed.
const GAIN_MIN: f64 = 1.4;
/// So long reads of one length are measured...
const MEASURED_TIME: Duration = Duration::from_millis(250);
/// ... and so many at least.
const MEASURED_READS_MIN: u32 = 8;
/// What comes sooner was in memory.
const CACHED_TIME_MAX: Duration = Duration::from_micros(100);
/// So many times, no longer reads are tried after they brought too little; then twice as often, and
/// so on: each trial reads what nobody needs.
const PAUSES: u32 = 16;
/// Ranges that were asked for and may not be there yet.
const RECENT: usize = 8;

/// The length of reads; shared by all threads that read a file.
#[derive(Debug, Default)]
pub(crate) struct ReadWindow(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Index in [`LENGTHS_BYTES`].
    length: usize,
    trial: Trial,
    bytes: u64,
    time: Duration,
    reads: u32,
    failures: u32,
    recent: [Range<u64>; RECENT],
    next_recent: usize,
}

/// Where the search for a length is.
#[derive(Debug, Default)]
enum Trial {
    /// The first reads come sooner than all others: disks and limits of speed have a reserve.
    #[default]
    WarmingUp,
    /// The length is measured.
    Measuring,
    /// The length is tried; the one before it brought so much.
    Longer { bytes_per_s_before: f64 },
    /// A longer one did not bring enough.
    Paused { rest: u32 },
}

impl ReadWindow {
    /// What to ask the kernel for before a range is read: it, and what may follow; `None` if that
    /// was asked for a moment ago.
    pub(crate) fn request(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let mut state = self.lock();
        let covers = |it: &Range<u64>| it.start <= range.start && range.end <= it.end;
        if state.recent.iter().any(covers) {
            return None;
        }
        let longer = LENGTHS_BYTES.get(state.length).copied().unwrap_or_default();
        let end = range.end.max(range.start.saturating_add(longer));
        let slot = state.next_recent;
        if let Some(recent) = state.recent.get_mut(slot) {
            *recent = range.start..end;
        }
        state.next_recent = (slot + 1) % RECENT;
        Some(range.start..end)
    }

    /// Learns from a read.
    ///
    /// * `requested_bytes`: what was asked for just before it.
    pub(crate) fn learn(&self, requested_bytes: u64, time: Duration) {
        if time < CACHED_TIME_MAX {
            return;
        }
        let mut state = self.lock();
        state.bytes = state.bytes.saturating_add(requested_bytes);
        state.time = state.time.saturating_add(time);
        state.reads += 1;
        if state.time >= MEASURED_TIME && state.reads >= MEASURED_READS_MIN {
            state.compare();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Keeps the length if it brings enough, and tries the next one; else goes back.
    fn compare(&mut self) {
        #[expect(clippy::cast_precision_loss, reason = "some GiB")]
        let bytes_per_s = self.bytes as f64 / self.time.as_secs_f64();
        (self.bytes, self.time, self.reads) = (0, Duration::ZERO, 0);
        self.trial = match self.trial {
            Trial::WarmingUp | Trial::Paused { rest: 0 } => Trial::Measuring,
            Trial::Longer { bytes_per_s_before } if bytes_per_s < bytes_per_s_before * GAIN_MIN => {
                self.length -= 1;
                let rest = PAUSES.saturating_mul(1 << self.failures.min(16));
                self.failures += 1;
                Trial::Paused { rest }
            }
            Trial::Paused { rest } => Trial::Paused { rest: rest - 1 },
            Trial::Measuring | Trial::Longer { .. } if self.length + 1 < LENGTHS_BYTES.len() => {
                self.length += 1;
                Trial::Longer {
                    bytes_per_s_before: bytes_per_s,
                }
            }
            Trial::Measuring | Trial::Longer { .. } => Trial::Paused { rest: PAUSES },
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of most reads of single blocks far from each other, but for the first ones.
    fn usual_length(block_bytes: u64, time_of: impl Fn(u64) -> Duration) -> u64 {
        let window = ReadWindow::default();
        let mut lengths = Vec::new();
        for start in (0..60_001).map(|number| number << 24) {
            let request = window.request(&(start..start + block_bytes)).unwrap();
            let length = request.end - request.start;
            lengths.push(length);
            window.learn(length, time_of(length));
        }
        lengths.drain(..10_000);
        lengths.sort_unstable();
        lengths[lengths.len() / 2]
    }

    #[test]
    fn a_medium_that_seeks_gets_long_reads_and_a_narrow_one_short_ones() {
        let medium = |seek_us: u64, bytes_per_us: u64| {
            move |bytes: u64| Duration::from_micros(seek_us + bytes / bytes_per_us)
        };
        for (block_bytes, seek_us, bytes_per_us, expected) in [
            // Hard disk, USB 2 stick, SD card, network file system, and an SSD.
            (45_000, 8_300, 100, 1 << 20),
            (45_000, 670, 30, 45_000),
            (8_192, 670, 30, 32 << 10),
            (45_000, 1_000, 20, 45_000),
            (45_000, 5_000, 1_000, 1 << 20),
            (45_000, 90, 1_000, 128 << 10),
        ] {
            let length = usual_length(block_bytes, medium(seek_us, bytes_per_us));
            assert_eq!(length, expected, "{seek_us} us, {bytes_per_us} B/us");
        }
        // What is in memory teaches nothing.
        assert_eq!(usual_length(45_000, |_| Duration::from_micros(20)), 45_000);
    }

    #[test]
    fn what_was_asked_for_is_not_asked_for_again() {
        let window = ReadWindow::default();
        assert_eq!(window.request(&(0..8192)), Some(0..32 << 10));
        assert_eq!(window.request(&(8192..16384)), None);
        assert_eq!(window.request(&(32000..40000)), Some(32000..64768));
        let end = u64::MAX;
        assert_eq!(window.request(&(end - 1..end)), Some(end - 1..end));
        // Eight later the first is forgotten.
        for start in 1..=RECENT as u64 {
            assert!(window.request(&(start << 20..(start << 20) + 1)).is_some());
        }
        assert!(window.request(&(0..8192)).is_some());
    }
}
