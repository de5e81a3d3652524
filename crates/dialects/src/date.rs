//! Users, groups and dates as pseudo definitions and options name them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

use coldpress_host::names;
use coldpress_writer::parse_time;
use coldpress_writer::pseudo::Lookup;

/// What this system knows of users, groups and dates.
pub const LOOKUP: Lookup = Lookup {
    user: names::user,
    group: names::group,
    date,
};

/// The time of a date in seconds since 1970, in UTC if it names no zone.
///
/// What [`parse_time`] does not know is asked of `date` of the coreutils, as mksquashfs does: its
/// language of dates is written down nowhere else.
pub(crate) fn date(text: &[u8]) -> Option<u32> {
    let known = str::from_utf8(text)
        .ok()
        .and_then(|text| parse_time(text).ok());
    known.or_else(|| date_of_coreutils(text))
}

fn date_of_coreutils(text: &[u8]) -> Option<u32> {
    let mut option = OsString::from("--date=");
    option.push(OsStr::from_bytes(text));
    let mut date = Command::new("date");
    date.arg(option).arg("+%s").env("TZ", "UTC0");
    let output = date.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.ok().filter(|output| output.status.success())?;
    str::from_utf8(&output.stdout).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_mksquashfs_in_utc() {
        assert_eq!(date(b"2000-01-01"), Some(946_684_800));
        assert_eq!(date(b"1 jan 2000 01:00 +0100"), Some(946_684_800));
        assert_eq!(date(b"1900-01-01"), None);
        assert_eq!(date(b"no such day"), None);
    }
}
