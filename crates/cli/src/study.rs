//! The seed of a study.

use std::time::{SystemTime, UNIX_EPOCH};

/// A seed for an order, which nobody chose: short enough to be typed again.
pub(crate) fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::from(now.subsec_nanos()) % 1_000_000)
}
