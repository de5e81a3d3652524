//! What this system knows of users, groups and dates.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

use coldpress_build::parse_time;

/// The database of users.
pub(crate) const USERS: &str = "/etc/passwd";
/// The database of groups.
pub(crate) const GROUPS: &str = "/etc/group";

/// The number of a user in `/etc/passwd`; users of a directory service are not asked for.
pub(crate) fn user(name: &[u8]) -> Option<u32> {
    number_in(&fs::read(USERS).ok()?, name)
}

/// The number of a group in `/etc/group`.
pub(crate) fn group(name: &[u8]) -> Option<u32> {
    number_in(&fs::read(GROUPS).ok()?, name)
}

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

/// The number of a name in lines of `name:password:number:...`.
fn number_in(database: &[u8], name: &[u8]) -> Option<u32> {
    entries(database).find_map(|(other, number)| (other == name).then_some(number))
}

/// The name of a number in such lines.
pub(crate) fn name_in(database: &[u8], number: u32) -> Option<String> {
    let found = entries(database).find(|(_, other)| *other == number)?;
    Some(String::from_utf8_lossy(found.0).into_owned())
}

/// The names of all numbers in such lines; the first one of each.
pub(crate) fn all_in(database: &[u8]) -> HashMap<u32, String> {
    let mut names = HashMap::new();
    for (name, number) in entries(database) {
        let name = || String::from_utf8_lossy(name).into_owned();
        names.entry(number).or_insert_with(name);
    }
    names
}

/// Names and their numbers; lines that have none are skipped.
fn entries(database: &[u8]) -> impl Iterator<Item = (&[u8], u32)> {
    database.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut fields = line.split(|byte| *byte == b':');
        let name = fields.next()?;
        let number = str::from_utf8(fields.nth(1)?).ok()?.parse().ok()?;
        Some((name, number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_the_databases() {
        let database = b"root:x:0:0:root:/root:/bin/sh\nbad:x:no\nuser:x:1000:\nuser:x:0:\n";
        for (name, number) in [
            ("root", Some(0)),
            ("user", Some(1000)),
            ("bad", None),
            ("use", None),
            ("", None),
        ] {
            assert_eq!(number_in(database, name.as_bytes()), number, "{name}");
        }
        assert_eq!(name_in(database, 0).as_deref(), Some("root"));
        assert_eq!(name_in(database, 7), None);
        let all = HashMap::from([(0, "root".to_owned()), (1000, "user".to_owned())]);
        assert_eq!(all_in(database), all);
        assert_eq!(user(b"root"), Some(0));
        assert_eq!(group(b"no such group"), None);
    }

    #[test]
    fn dates_are_those_of_mksquashfs_in_utc() {
        assert_eq!(date(b"2000-01-01"), Some(946_684_800));
        assert_eq!(date(b"1 jan 2000 01:00 +0100"), Some(946_684_800));
        assert_eq!(date(b"1900-01-01"), None);
        assert_eq!(date(b"no such day"), None);
    }
}
