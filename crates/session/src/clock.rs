//! The time of day, where something states when it was.

use std::time::SystemTime;

/// Milliseconds since 1970; 0 while the clock stands before.
pub fn now_unix_ms() -> u64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since_1970.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}
