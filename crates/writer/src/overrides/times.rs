//! Modification times: of the image, of all inodes, of the root directory.

use coldpress_layout::{Node, Tree};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::rfc2822;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;

use crate::error::Error;

/// What times become.
///
/// The time of all inodes holds for the root directory too. `SOURCE_DATE_EPOCH` lowers what is left
/// then, also the newest time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The time of the image.
    pub image: Option<Time>,
    /// The time of every inode.
    pub inodes: Option<Time>,
    /// The time of the root directory.
    pub root: Option<Time>,
}

/// A time to be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// This one, seconds since 1970.
    At(u32),
    /// That of the newest inode.
    Newest,
}

impl Time {
    /// Parses a time: `inode` for that of the newest inode, or what [`parse_time`] accepts.
    ///
    /// # Errors
    ///
    /// As [`parse_time`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        match text {
            "inode" => Ok(Self::Newest),
            text => parse_time(text).map(Self::At),
        }
    }
}

/// Parses a time in seconds since 1970.
///
/// Accepted are a number (also after `@`), ISO 8601 and RFC 3339 (`2024-01-31`,
/// `2024-01-31 12:00`, `2024-01-31T12:00:00+01:00`), RFC 2822 (`Wed, 31 Jan 2024 12:00:00 +0100`),
/// and what `LC_ALL=C date -u` prints (`Wed Jan 31 12:00:00 UTC 2024`). Without a zone it is UTC,
/// whatever the zone of the machine. Fractions of a second are dropped.
///
/// mksquashfs asks `date -d` and so knows relative times too; these would make builds differ.
///
/// # Errors
///
/// [`Error::Value`] for anything else, and for times that 32 bits do not hold.
pub fn parse_time(text: &str) -> Result<u32, Error> {
    let wrong = |rule| Error::Value {
        what: "time",
        found: text.to_owned(),
        rule,
    };
    let number = text.strip_prefix('@').unwrap_or(text);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let time_s = if is_number {
        number.parse().ok()
    } else {
        let date = parse_date(text.trim()).ok_or_else(|| {
            wrong(
                "give seconds since 1970, or a date like `2024-01-31`, `2024-01-31 12:00` or \
                 `2024-01-31T12:00:00Z`; relative ones like `now` would make builds differ",
            )
        })?;
        Some(date.as_second())
    };
    let time_s = time_s.and_then(|time_s| u32::try_from(time_s).ok());
    time_s.ok_or_else(|| wrong("an image holds 0 to 4294967295 s since 1970, the years to 2106"))
}

fn parse_date(text: &str) -> Option<Timestamp> {
    let with_zone = || text.parse().ok();
    let without_zone = || in_utc(text.parse().ok()?);
    let mail = || rfc2822::DateTimeParser::new().parse_timestamp(text).ok();
    let printed = || {
        let (before, year) = text.split_once(" UTC ").or(text.split_once(" GMT "))?;
        let parts = BrokenDownTime::parse("%a %b %e %H:%M:%S %Y", format!("{before} {year}"));
        in_utc(parts.ok()?.to_datetime().ok()?)
    };
    with_zone()
        .or_else(without_zone)
        .or_else(mail)
        .or_else(printed)
}

fn in_utc(time: DateTime) -> Option<Timestamp> {
    let zoned = time.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp())
}

impl Times {
    pub(super) fn set_root(&self, root: &mut Node) {
        if let Some(Time::At(time_s)) = self.root {
            root.mtime_s = time_s;
        }
    }

    /// Sets the times of all nodes.
    ///
    /// * `latest_s`: `SOURCE_DATE_EPOCH`.
    pub(super) fn set(&self, tree: &mut Tree, latest_s: Option<u32>) {
        let newest_s = newest_s(tree);
        if self.root == Some(Time::Newest)
            && let Some(root) = tree.nodes.first_mut()
        {
            root.mtime_s = newest_s;
        }
        for node in &mut tree.nodes {
            match self.inodes {
                Some(Time::At(time_s)) => node.mtime_s = time_s,
                Some(Time::Newest) => node.mtime_s = newest_s,
                None => {}
            }
            node.mtime_s = node.mtime_s.min(latest_s.unwrap_or(u32::MAX));
        }
    }

    /// The time of an image of a finished tree: what was asked for, `SOURCE_DATE_EPOCH`, or that of
    /// the newest inode.
    ///
    /// * `latest_s`: `SOURCE_DATE_EPOCH`.
    pub fn image_s(&self, tree: &Tree, latest_s: Option<u32>) -> u32 {
        match (self.image, latest_s) {
            (Some(Time::At(time_s)), _) | (_, Some(time_s)) => time_s,
            (Some(Time::Newest) | None, None) => newest_s(tree),
        }
    }

    /// Checks that `SOURCE_DATE_EPOCH` and the times for image and inodes do not contradict: as in
    /// mksquashfs, only one of them may say a time, even if they say the same.
    ///
    /// * `latest_s`: `SOURCE_DATE_EPOCH`.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] if they do.
    pub fn check(&self, latest_s: Option<u32>) -> Result<(), Error> {
        let is_said = |time| matches!(time, Some(Time::At(_)));
        match latest_s {
            Some(latest_s) if is_said(self.image) || is_said(self.inodes) => Err(Error::Value {
                what: "SOURCE_DATE_EPOCH",
                found: latest_s.to_string(),
                rule: "a time of the image or of all inodes is given too; unset one of them",
            }),
            _ => Ok(()),
        }
    }
}

fn newest_s(tree: &Tree) -> u32 {
    let times = tree.nodes.iter().map(|node| node.mtime_s);
    times.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_or_dates() {
        for (text, expected) in [
            ("0", 0),
            ("4294967295", u32::MAX),
            ("@86400", 86400),
            ("1970-01-02", 86400),
            ("2024-01-31 12:00", 1_706_702_400),
            ("2024-01-31T12:00:00", 1_706_702_400),
            ("2024-01-31T12:00:00Z", 1_706_702_400),
            ("2024-01-31 12:00:00.9+00:00", 1_706_702_400),
            ("2024-01-31T13:00:00+01:00", 1_706_702_400),
            ("Wed, 31 Jan 2024 13:00:00 +0100", 1_706_702_400),
            ("Wed Jan 31 12:00:00 UTC 2024", 1_706_702_400),
            ("Thu Jan  1 00:00:01 UTC 1970", 1),
        ] {
            assert_eq!(parse_time(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn other_times_are_refused() {
        for text in [
            "",
            "@",
            "-1",
            "4294967296",
            "now",
            "yesterday",
            "2 days ago",
            "1969-12-31",
            "2200-01-01",
            "2024-13-01",
            "12:00",
            "99999999999999999999",
            "inode",
        ] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
