//! Whether two databases hold the same: schema, settings that stay in the file, and every row.

use rusqlite::{Connection, Row, Statement};

/// Objects of a database; rows of tables are compared on their own, so it does not matter where
/// they begin.
const SCHEMA: &str = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";

/// Tables with rows of their own; those of modules keep theirs in others.
const TABLES: &str =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name";

const SETTINGS: [&str; 4] = ["user_version", "application_id", "encoding", "auto_vacuum"];

/// Names the first thing that differs; `None` if nothing does.
///
/// # Cost
///
/// Reads all rows of both, one of each at a time.
///
/// # Errors
///
/// If one of them cannot be read.
pub(super) fn difference(old: &Connection, new: &Connection) -> rusqlite::Result<Option<String>> {
    for setting in SETTINGS {
        if !is_same(old, new, &format!("PRAGMA {setting}"))? {
            return Ok(Some(setting.replace('_', " ")));
        }
    }
    if !is_same(old, new, SCHEMA)? {
        return Ok(Some("the schema".to_owned()));
    }
    let mut tables = old.prepare(TABLES)?;
    let mut tables = tables.query([])?;
    while let Some(row) = tables.next()? {
        let name: String = row.get(0)?;
        // Without an index both are read in the order of their keys.
        let quoted = name.replace('"', "\"\"");
        if !is_same(old, new, &format!("SELECT * FROM \"{quoted}\" NOT INDEXED"))? {
            return Ok(Some(format!("the table {}", name.escape_debug())));
        }
    }
    Ok(None)
}

/// Whether a query has the same rows.
fn is_same(old: &Connection, new: &Connection, sql: &str) -> rusqlite::Result<bool> {
    let (mut old, mut new) = (old.prepare(sql)?, new.prepare(sql)?);
    let columns = old.column_count();
    if columns != new.column_count() {
        return Ok(false);
    }
    has_same_rows(&mut old, &mut new, columns)
}

fn has_same_rows(
    old: &mut Statement<'_>,
    new: &mut Statement<'_>,
    columns: usize,
) -> rusqlite::Result<bool> {
    let (mut old, mut new) = (old.query([])?, new.query([])?);
    loop {
        match (old.next()?, new.next()?) {
            (None, None) => return Ok(true),
            (Some(old), Some(new)) if is_same_row(old, new, columns)? => {}
            _ => return Ok(false),
        }
    }
}

fn is_same_row(old: &Row<'_>, new: &Row<'_>, columns: usize) -> rusqlite::Result<bool> {
    for column in 0..columns {
        if old.get_ref(column)? != new.get_ref(column)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "CREATE TABLE t(a, b); CREATE INDEX i ON t(b, a); \
        CREATE TABLE \"odd \"\" name\"(k TEXT PRIMARY KEY, v) WITHOUT ROWID; \
        CREATE VIRTUAL TABLE words USING fts5(text); CREATE VIEW w AS SELECT a FROM t; \
        INSERT INTO t VALUES (1, 'x'), (2.5, NULL), (x'00ff', 'y'); \
        INSERT INTO \"odd \"\" name\" VALUES ('k', 1), ('j', 2); INSERT INTO words VALUES ('some text');";

    fn database(more: &str) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(BASE).unwrap();
        connection.execute_batch(more).unwrap();
        connection
    }

    #[test]
    fn the_first_difference_is_named() {
        for (more, expected) in [
            ("", None),
            ("UPDATE t SET b = 'X' WHERE a = 1", Some("the table t")),
            ("UPDATE t SET a = '1' WHERE a = 1", Some("the table t")),
            ("DELETE FROM t WHERE b = 'y'", Some("the table t")),
            ("INSERT INTO t VALUES (3, 3)", Some("the table t")),
            (
                "DELETE FROM \"odd \"\" name\"",
                Some("the table odd \\\" name"),
            ),
            ("PRAGMA user_version = 3", Some("user version")),
            ("CREATE INDEX j ON t(a)", Some("the schema")),
            ("DROP VIEW w", Some("the schema")),
        ] {
            let found = difference(&database(""), &database(more)).unwrap();
            assert_eq!(found.as_deref(), expected, "{more}");
        }
        let found = difference(
            &database(""),
            &database("INSERT INTO words VALUES ('more')"),
        );
        assert!(found.unwrap().unwrap().starts_with("the table words_"));
    }
}
