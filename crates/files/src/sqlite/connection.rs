//! Databases opened by SQLite.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use coldpress_report::text::escaped;
use rusqlite::{Connection, OpenFlags};

/// How long a lock of somebody else is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Findings of a check that are told.
const FINDINGS_MAX: u32 = 10;

/// Opens a database to read and write. An unfinished transaction of a program that was killed is
/// ended by that.
///
/// * `path`: absolute, as SQLite takes a name that begins with `file:` for something else.
///
/// # Errors
///
/// If SQLite cannot open it.
pub(super) fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    opened(Connection::open_with_flags(path, flags)?)
}

/// Opens a database to read it.
///
/// * `is_still`: nobody writes, and nothing waits beside it to be taken over. Then SQLite is told
///   so (`immutable`), as it would make a `-wal` and a `-shm` file for a database in that mode and
///   could not remove them.
pub(super) fn open_to_read(path: &Path, is_still: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if is_still {
        let uri = format!("file:{}?immutable=1", percent_encoded(path));
        Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?
    } else {
        Connection::open_with_flags(path, flags)?
    };
    opened(connection)
}

fn opened(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(PATIENCE)?;
    // What a schema calls is not to be run because somebody looks at it.
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// What a check finds wrong, a line each; nothing in a sound database.
///
/// * `pragma`: `quick_check` or `integrity_check`, which compares indexes with their tables too.
///
/// # Errors
///
/// If SQLite cannot read the database.
pub(super) fn findings(connection: &Connection, pragma: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA {pragma}({FINDINGS_MAX})"))?;
    let mut rows = statement.query([])?;
    let mut findings = Vec::new();
    while let Some(row) = rows.next()? {
        let text = row.get_ref(0)?.as_bytes().unwrap_or_default();
        if text != b"ok" {
            findings.push(escaped(text));
        }
    }
    Ok(findings)
}

/// A path in a URI.
fn percent_encoded(path: &Path) -> String {
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                text.push(byte.into());
            }
            // Writing to a string does not fail.
            _ => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_can_be_opened_to_be_read() {
        use std::os::unix::ffi::OsStringExt as _;
        let stage = tempfile::tempdir().unwrap();
        for name in [
            &b"plain"[..],
            b"a b?c#d%41\n",
            b"\xff",
            b"file:x?mode=memory",
        ] {
            let name = std::ffi::OsString::from_vec(name.to_vec());
            let path = stage.path().join(name);
            let connection = Connection::open(&path).unwrap();
            connection.execute_batch("CREATE TABLE t(a)").unwrap();
            drop(connection);
            for is_still in [false, true] {
                let read = open_to_read(&path, is_still).unwrap();
                assert_eq!(findings(&read, "quick_check").unwrap(), [""; 0]);
                let tables = "SELECT count(*) FROM sqlite_schema";
                let count: u32 = read.query_row(tables, [], |row| row.get(0)).unwrap();
                assert_eq!(count, 1, "{path:?}");
            }
        }
        assert!(open_to_read(&stage.path().join("missing"), true).is_err());
        assert!(open(&stage.path().join("missing")).is_err());
    }
}
