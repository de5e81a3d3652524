//! When the kernel asked last.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Tells how long no request came. What the kernel answers by itself, from its caches, is none.
#[derive(Debug)]
pub struct Activity {
    began: Instant,
    last_ms: AtomicU64,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self {
            began: Instant::now(),
            last_ms: AtomicU64::new(0),
        }
    }

    pub(super) fn note(&self) {
        self.last_ms.store(self.now_ms(), Ordering::Relaxed);
    }

    /// How long no request came.
    pub fn idle(&self) -> Duration {
        let last_ms = self.last_ms.load(Ordering::Relaxed);
        Duration::from_millis(self.now_ms().saturating_sub(last_ms))
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
