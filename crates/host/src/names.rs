//! What this system knows of users and groups.

use std::collections::HashMap;
use std::fs;

/// The database of users.
pub const USERS: &str = "/etc/passwd";
/// The database of groups.
pub const GROUPS: &str = "/etc/group";

/// The number of a user in `/etc/passwd`; users of a directory service are not asked for.
pub fn user(name: &[u8]) -> Option<u32> {
    number_in(&fs::read(USERS).ok()?, name)
}

/// The number of a group in `/etc/group`.
pub fn group(name: &[u8]) -> Option<u32> {
    number_in(&fs::read(GROUPS).ok()?, name)
}

/// The number of a name in lines of `name:password:number:...`.
fn number_in(database: &[u8], name: &[u8]) -> Option<u32> {
    entries(database).find_map(|(other, number)| (other == name).then_some(number))
}

/// The name of a number in such lines.
pub fn name_in(database: &[u8], number: u32) -> Option<String> {
    let found = entries(database).find(|(_, other)| *other == number)?;
    Some(String::from_utf8_lossy(found.0).into_owned())
}

/// The names of all numbers in such lines; the first one of each.
pub fn all_in(database: &[u8]) -> HashMap<u32, String> {
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
}
