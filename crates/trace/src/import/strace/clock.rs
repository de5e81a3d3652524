//! When a line was written.

/// The time that a line tells, in us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    /// Since 1970.
    Unix(u64),
    /// Since midnight.
    Day(u64),
    /// Since the line before.
    Since(u64),
}

const DAY_US: u64 = 86_400_000_000;

/// Times of the lines of one file.
#[derive(Debug, Default)]
pub(super) struct Clock {
    last_us: u64,
    /// Midnights that were passed.
    days_us: u64,
    /// Whether times of other files can be compared.
    pub(super) is_absolute: bool,
}

impl Clock {
    /// The time of the next line. A line without a time is a microsecond later than the one before,
    /// unless lines have times: then it is of the same time.
    pub(super) fn read(&mut self, stamp: Option<Stamp>) -> u64 {
        self.last_us = match stamp {
            None if self.is_absolute => self.last_us,
            None => self.last_us.saturating_add(1),
            Some(Stamp::Since(since_us)) => self.last_us.saturating_add(since_us),
            Some(Stamp::Unix(time_us)) => {
                self.is_absolute = true;
                time_us
            }
            Some(Stamp::Day(time_us)) => {
                // Lines may be a little out of order, but not by half a day.
                let today_us = self.days_us.saturating_add(time_us);
                let is_next = self.last_us > today_us.saturating_add(DAY_US / 2);
                if self.is_absolute && is_next {
                    self.days_us = self.days_us.saturating_add(DAY_US);
                }
                self.is_absolute = true;
                self.days_us.saturating_add(time_us)
            }
        };
        self.last_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_US: u64 = 3_600_000_000;

    #[test]
    fn times_go_on_whatever_lines_tell() {
        let mut clock = Clock::default();
        let stamps = [
            None,
            None,
            Some(Stamp::Since(5)),
            Some(Stamp::Since(0)),
            None,
        ];
        assert_eq!(stamps.map(|stamp| clock.read(stamp)), [1, 2, 7, 7, 8]);
        assert!(!clock.is_absolute);
        let mut clock = Clock::default();
        let stamps = [Some(Stamp::Unix(9)), None, Some(Stamp::Unix(8))];
        assert_eq!(stamps.map(|stamp| clock.read(stamp)), [9, 9, 8]);
        assert!(clock.is_absolute);
    }

    #[test]
    fn midnight_is_passed_and_small_steps_back_are_none() {
        let mut clock = Clock::default();
        let hours = [23, 22, 0, 1, 0, 23, 0].map(|hour| Some(Stamp::Day(hour * HOUR_US)));
        let read = hours.map(|stamp| clock.read(stamp) / HOUR_US);
        assert_eq!(read, [23, 22, 24, 25, 24, 47, 48]);
    }
}
