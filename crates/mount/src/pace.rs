//! How fast is prefetched.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

/// A limit on bytes for each second, since a beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    began: Instant,
    bytes_per_s: Option<NonZeroU64>,
}

impl Pace {
    /// * `bytes_per_s`: `None` is as fast as it goes.
    pub(crate) fn new(began: Instant, bytes_per_s: Option<NonZeroU64>) -> Self {
        Self { began, bytes_per_s }
    }

    /// How long the next read must wait after so many bytes; `None` if it need not.
    pub(crate) fn delay(&self, read_bytes: u64, now: Instant) -> Option<Duration> {
        let bytes_per_s = self.bytes_per_s?.get();
        let whole = Duration::from_secs(read_bytes / bytes_per_s);
        let rest_us = u128::from(read_bytes % bytes_per_s) * 1_000_000 / u128::from(bytes_per_s);
        let due = whole + Duration::from_micros(u64::try_from(rest_us).unwrap_or(u64::MAX));
        let left = due.saturating_sub(now.saturating_duration_since(self.began));
        (!left.is_zero()).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_takes_its_time() {
        let began = Instant::now();
        let pace = |bytes_per_s| Pace::new(began, NonZeroU64::new(bytes_per_s));
        let at_ms = |ms| began + Duration::from_millis(ms);
        for (bytes_per_s, read_bytes, now_ms, delay_ms) in [
            (0, u64::MAX, 0, None),
            (1000, 0, 0, None),
            (1000, 500, 0, Some(500)),
            (1000, 500, 200, Some(300)),
            (1000, 500, 500, None),
            (1000, 500, 9000, None),
            (3, 7, 0, Some(2333)),
            (u64::MAX, u64::MAX, 0, Some(1000)),
        ] {
            let delay = pace(bytes_per_s).delay(read_bytes, at_ms(now_ms));
            let delay = delay.map(|delay| delay.as_millis());
            assert_eq!(delay, delay_ms, "{bytes_per_s} {read_bytes} {now_ms}");
        }
        // The longest there is.
        assert!(pace(1).delay(u64::MAX, began).is_some());
    }
}
