//! Times in the zone of the machine.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Prints times in a zone.
#[derive(Debug)]
pub struct LocalTime {
    zone: TimeZone,
}

impl LocalTime {
    /// In the zone of the machine (`TZ`, else `/etc/localtime`), or in UTC, also if it is not
    /// known.
    pub fn new(utc: bool) -> Self {
        let zone = if utc {
            TimeZone::UTC
        } else {
            TimeZone::try_system().unwrap_or(TimeZone::UTC)
        };
        Self { zone }
    }

    /// `2020-02-03 04:05`, or with seconds.
    ///
    /// * `time_s`: seconds since 1970.
    pub fn text(&self, time_s: u32, seconds: bool) -> String {
        let format = if seconds {
            "%Y-%m-%d %H:%M:%S"
        } else {
            "%Y-%m-%d %H:%M"
        };
        self.at(time_s).strftime(format).to_string()
    }

    /// `Mon Feb  3 04:05:06 2020`, as `asctime(3)` has it.
    pub fn asctime(&self, time_s: u32) -> String {
        self.at(time_s).strftime("%a %b %e %H:%M:%S %Y").to_string()
    }

    fn at(&self, time_s: u32) -> DateTime {
        let time = Timestamp::from_second(time_s.into()).unwrap_or_default();
        self.zone.to_datetime(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_their_zone() {
        let utc = LocalTime::new(true);
        assert_eq!(utc.text(1_580_702_706, false), "2020-02-03 04:05");
        assert_eq!(utc.text(1_580_702_706, true), "2020-02-03 04:05:06");
        assert_eq!(utc.asctime(1_580_702_706), "Mon Feb  3 04:05:06 2020");
        assert_eq!(utc.text(u32::MAX, false), "2106-02-07 06:28");
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let local = LocalTime { zone };
        assert_eq!(local.text(1_580_702_706, false), "2020-02-03 05:05");
        assert_eq!(local.text(1_596_000_000, false), "2020-07-29 07:20");
    }
}
