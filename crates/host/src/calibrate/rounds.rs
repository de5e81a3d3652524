//! How often samples are read again.

use std::time::{Duration, Instant};

/// Rounds there are at least.
const ROUNDS_MIN: u32 = 3;
/// How many times as long it may take, in rounds and in time, if other programs disturb it.
const PATIENCE: u32 = 8;

/// Counts rounds of passes: three at least, more as long as there is time, and up to eight times as
/// many and as long if the figures are [disturbed](super::calibration::ReaderFigures::disturbed).
#[derive(Debug)]
pub struct Rounds {
    started: Instant,
    time: Duration,
    begun: u32,
}

impl Rounds {
    /// Before the first one.
    ///
    /// * `time`: about what all may take.
    pub fn of(time: Duration) -> Self {
        Self {
            started: Instant::now(),
            time,
            begun: 0,
        }
    }

    /// Whether another round begins.
    ///
    /// * `is_disturbed`: asked when three rounds are done and the time is over.
    pub fn begin(&mut self, is_disturbed: impl FnOnce() -> bool) -> bool {
        let begins = self.is_due(self.started.elapsed(), is_disturbed);
        self.begun += u32::from(begins);
        begins
    }

    fn is_due(&self, elapsed: Duration, is_disturbed: impl FnOnce() -> bool) -> bool {
        if self.begun < ROUNDS_MIN || elapsed < self.time {
            return true;
        }
        let is_patient =
            self.begun < ROUNDS_MIN * PATIENCE || elapsed < self.time.saturating_mul(PATIENCE);
        is_patient && is_disturbed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_disturbed_is_read_again_but_not_for_ever() {
        const SECOND: Duration = Duration::from_secs(1);
        let cases = [
            (0, SECOND * 9, false, true),
            (2, SECOND * 9, false, true),
            (3, SECOND * 9, false, false),
            (30, SECOND / 2, false, true),
            (3, SECOND * 9, true, true),
            (30, SECOND * 2, true, true),
            (24, SECOND * 9, true, false),
        ];
        for (begun, elapsed, disturbed, due) in cases {
            let rounds = Rounds {
                begun,
                ..Rounds::of(SECOND)
            };
            let found = rounds.is_due(elapsed, || disturbed);
            assert_eq!(found, due, "{begun} {elapsed:?} {disturbed}");
        }
    }
}
