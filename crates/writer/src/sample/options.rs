//! What samples are asked for, and with what they are taken.

use std::num::NonZeroUsize;

use coldpress_codec::Workers;
use coldpress_layout::Plan;

use crate::options::Options;

/// Jobs in flight for each thread. They hold no bytes: workers read what they compress.
const WINDOW: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not 0");

/// What is to be found out, and with what means.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "a clock has nothing to show")]
pub struct SampleOptions<'a> {
    /// The images in question, as [`write`](crate::write()) would be asked for them; metadata is
    /// dense in all.
    pub candidates: &'a [Options],
    /// By which they are ordered. What it says of how single blocks are packed is not followed.
    pub plan: &'a Plan,
    /// What samples may cost, in images of zstd 15; few are taken in any case.
    /// [`Sampling::BUILDS`](super::Sampling::BUILDS) as a rule.
    pub builds: f64,
    /// With what samples are taken.
    pub means: SampleMeans<'a>,
}

/// With what samples are taken.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "a clock has nothing to show")]
pub struct SampleMeans<'a> {
    /// Threads that compress.
    pub threads: NonZeroUsize,
    /// Processor time of the calling thread in s, from any beginning: nothing here reads a clock.
    pub clock: &'a (dyn Fn() -> f64 + Sync),
}

impl SampleMeans<'_> {
    pub(super) fn workers(&self) -> Workers {
        Workers {
            threads: self.threads,
            window: self.threads.saturating_mul(WINDOW),
        }
    }
}
