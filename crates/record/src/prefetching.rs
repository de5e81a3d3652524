//! Reading ahead what a start needs, for mounts of others.
//!
//! ```text
//! extents  a working set to bytes of an image, in the order in which they are read   extents.rs
//! bytes    those bytes, into the memory of the machine                               bytes.rs
//! pages    the pages of files, through a mount                                       pages.rs
//! ```
//!
//! Nothing that goes wrong is an error of the start: what cannot be read ahead is read when it is
//! needed.

mod bytes;
mod extents;
mod pages;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use coldpress_report::units;

pub use bytes::{extents_of, read_bytes};
pub use coldpress_ahead::{Limits, Why};
use coldpress_ahead::{Pace, Verdict};
pub use pages::read_pages;

/// How long one pause is at most: whoever wants to stop is not kept waiting.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// What was read ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// What there was to read.
    pub wanted_bytes: u64,
    /// What of it was read.
    pub read_bytes: u64,
    /// How long that took.
    pub took: Duration,
    /// Paths of the profile that are not there, or cannot be read.
    pub missing: u64,
    /// Why not all of it was read.
    pub given_up: Option<Why>,
}

impl Fetched {
    /// What was done, as a sentence.
    pub fn sentence(&self) -> String {
        let read = units::bytes(self.read_bytes);
        let wanted = units::bytes(self.wanted_bytes);
        let took = units::seconds(self.took.as_secs_f64());
        match self.given_up {
            None => format!("read ahead {read} in {took}"),
            Some(why) => format!("read ahead {read} of {wanted} in {took}, then gave up: {why}"),
        }
    }
}

/// Asks whether to go on, between two reads.
struct Clock<'a> {
    pace: Pace,
    began: Instant,
    stop: &'a AtomicBool,
    fetched: Fetched,
}

impl<'a> Clock<'a> {
    fn new(limits: Limits, wanted_bytes: u64, missing: u64, stop: &'a AtomicBool) -> Self {
        Self {
            pace: Pace::new(limits),
            began: Instant::now(),
            stop,
            fetched: Fetched {
                wanted_bytes,
                missing,
                ..Fetched::default()
            },
        }
    }

    /// Notes what a read brought, and waits if it is time to; false once it is to end.
    fn goes_on(&mut self, bytes: u64, took: Duration) -> bool {
        self.fetched.read_bytes += bytes;
        match self.pace.after(bytes, took, self.began.elapsed()) {
            Verdict::Go => {}
            Verdict::Wait(pause) => self.wait(pause),
            Verdict::GiveUp(why) => self.fetched.given_up = Some(why),
        }
        if self.stop.load(Ordering::Relaxed) {
            self.fetched.given_up = Some(Why::NotWanted);
        }
        self.fetched.given_up.is_none()
    }

    fn wait(&self, pause: Duration) {
        let until = Instant::now() + pause;
        while !self.stop.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            sleep(left.min(PAUSE_MAX));
        }
    }

    fn finish(mut self) -> Fetched {
        self.fetched.took = self.began.elapsed();
        self.fetched
    }
}
