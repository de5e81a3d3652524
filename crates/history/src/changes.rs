//! Changes in the database: stated when they begin, with all their tasks when they end.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::change::{Change, Status, Task};
use crate::error::Error;
use crate::store::History;
use crate::study::Origin;

/// The number of a change in its database.
pub type ChangeId = i64;

/// How many changes are kept: each takes a kilobyte, so all of them take about one megabyte.
pub const KEPT_CHANGES: u32 = 1000;

impl History {
    /// Keeps a change as it is now, with its tasks; the oldest ones above [`KEPT_CHANGES`] go.
    ///
    /// It survives the end of the process at once, but not a failing power supply, as studies do:
    /// nobody waits for the disk.
    ///
    /// # Errors
    ///
    /// [`Error::Database`].
    pub fn begin_change(&mut self, change: &Change) -> Result<ChangeId, Error> {
        let failed = self.failed("write");
        let insert = |connection: &mut Connection| insert(connection, change, KEPT_CHANGES);
        unsynced(&mut self.connection, insert).map_err(failed)
    }

    /// States how a change ended, and what it consisted of.
    ///
    /// # Errors
    ///
    /// [`Error::Database`].
    pub fn end_change(&mut self, id: ChangeId, change: &Change) -> Result<(), Error> {
        let failed = self.failed("write");
        let update = |connection: &mut Connection| update(connection, id, change);
        unsynced(&mut self.connection, update).map_err(failed)
    }

    /// A change with its tasks; `None` if there is none of that number.
    ///
    /// # Errors
    ///
    /// [`Error::Database`].
    pub fn change(&self, id: ChangeId) -> Result<Option<Change>, Error> {
        select(&self.connection, id).map_err(self.failed("read"))
    }

    /// The numbers of all changes, or of those of a verb, the newest first.
    ///
    /// # Errors
    ///
    /// [`Error::Database`].
    pub fn change_ids(&self, verb: Option<&str>) -> Result<Vec<ChangeId>, Error> {
        ids(&self.connection, verb).map_err(self.failed("read"))
    }
}

/// Writes without waiting for the disk, as WAL lets a writer without a risk for what is there.
fn unsynced<T>(
    connection: &mut Connection,
    write: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.pragma_update(None, "synchronous", "normal")?;
    let written = write(connection);
    connection.pragma_update(None, "synchronous", "full")?;
    written
}

fn insert(connection: &mut Connection, change: &Change, kept: u32) -> rusqlite::Result<ChangeId> {
    let transaction = connection.transaction()?;
    let citation = match &change.origin {
        Origin::Measured => None,
        Origin::Published { citation } => Some(citation),
    };
    transaction.execute(
        "INSERT INTO change (verb, summary, began_unix_ms, took_us, citation, status) VALUES (?1, \
        ?2, ?3, ?4, ?5, ?6)",
        params![
            change.verb,
            change.summary,
            to_sql(change.began_unix_ms),
            change.took_us.map(to_sql),
            citation,
            change.status.name(),
        ],
    )?;
    let id = transaction.last_insert_rowid();
    insert_tasks(&transaction, id, &change.tasks)?;
    transaction.execute(
        "DELETE FROM change WHERE id <= (SELECT id FROM change ORDER BY id DESC LIMIT 1 OFFSET ?1)",
        [kept],
    )?;
    transaction.commit()?;
    Ok(id)
}

fn update(connection: &mut Connection, id: ChangeId, change: &Change) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    let updated = transaction.execute(
        "UPDATE change SET took_us = ?2, status = ?3 WHERE id = ?1",
        params![id, change.took_us.map(to_sql), change.status.name()],
    )?;
    // While it was under way, a thousand others may have taken its place.
    if updated > 0 {
        transaction.execute("DELETE FROM task WHERE change = ?1", [id])?;
        insert_tasks(&transaction, id, &change.tasks)?;
    }
    transaction.commit()
}

fn insert_tasks(connection: &Connection, id: ChangeId, tasks: &[Task]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare(
        "INSERT INTO task (change, number, level, name, label, summary, status, began_us, \
        doing_us, undoing_us, threads) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    for (number, task) in (0_i64..).zip(tasks) {
        insert.execute(params![
            id,
            number,
            task.level,
            task.name,
            task.label,
            task.summary,
            task.status.map(Status::name),
            to_sql(task.began_us),
            task.doing_us.map(to_sql),
            task.undoing_us.map(to_sql),
            task.threads,
        ])?;
    }
    Ok(())
}

fn select(connection: &Connection, id: ChangeId) -> rusqlite::Result<Option<Change>> {
    let sql =
        "SELECT verb, summary, began_unix_ms, took_us, citation, status FROM change WHERE id = ?1";
    let change = connection.query_row(sql, [id], |row| {
        Ok(Change {
            verb: row.get(0)?,
            summary: row.get(1)?,
            began_unix_ms: from_sql(row.get(2)?),
            took_us: row.get::<_, Option<i64>>(3)?.map(from_sql),
            origin: match row.get(4)? {
                None => Origin::Measured,
                Some(citation) => Origin::Published { citation },
            },
            status: status(&row.get::<_, String>(5)?, 5)?,
            tasks: Vec::new(),
        })
    });
    let Some(mut change) = change.optional()? else {
        return Ok(None);
    };
    change.tasks = connection
        .prepare(
            "SELECT level, name, label, summary, status, began_us, doing_us, undoing_us, threads \
            FROM task \
             WHERE change = ?1 ORDER BY number",
        )?
        .query_map([id], task)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Some(change))
}

fn task(row: &Row<'_>) -> rusqlite::Result<Task> {
    let found: Option<String> = row.get(4)?;
    Ok(Task {
        level: row.get(0)?,
        name: row.get(1)?,
        label: row.get(2)?,
        summary: row.get(3)?,
        status: found.map(|word| status(&word, 4)).transpose()?,
        began_us: from_sql(row.get(5)?),
        doing_us: row.get::<_, Option<i64>>(6)?.map(from_sql),
        undoing_us: row.get::<_, Option<i64>>(7)?.map(from_sql),
        threads: row.get(8)?,
    })
}

fn ids(connection: &Connection, verb: Option<&str>) -> rusqlite::Result<Vec<ChangeId>> {
    connection
        .prepare("SELECT id FROM change WHERE ?1 IS NULL OR verb = ?1 ORDER BY id DESC")?
        .query_map([verb], |row| row.get(0))?
        .collect()
}

fn status(word: &str, column: usize) -> rusqlite::Result<Status> {
    word.parse().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

fn to_sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn from_sql(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(verb: &str) -> Change {
        Change {
            verb: verb.to_owned(),
            summary: format!("A {verb}"),
            began_unix_ms: 1_700_000_000_123,
            took_us: None,
            origin: Origin::Measured,
            status: Status::Doing,
            tasks: Vec::new(),
        }
    }

    fn history(directory: &tempfile::TempDir) -> History {
        History::open(&directory.path().join("history.sqlite")).expect("a file")
    }

    #[test]
    fn a_change_is_under_way_until_it_is_ended_and_then_read_as_it_was() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut change = change("build");
        let id = {
            let mut history = history(&directory);
            let id = history.begin_change(&change).expect("a new change");
            assert_eq!(history.change(id).expect("read"), Some(change.clone()));
            change.status = Status::Error;
            change.took_us = Some(2_500);
            let task = |level, status| Task {
                level,
                name: "1".to_owned(),
                label: "scanning".to_owned(),
                summary: "Scan".to_owned(),
                status,
                began_us: 7,
                doing_us: Some(u64::from(u32::MAX) * 1000),
                undoing_us: None,
                threads: Some(4),
            };
            change.tasks = vec![task(0, Some(Status::Error)), task(1, None)];
            history.end_change(id, &change).expect("an end");
            id
        };
        let history = history(&directory);
        assert_eq!(history.change(id).expect("read"), Some(change));
        assert_eq!(history.change(id + 1).expect("read"), None);
    }

    #[test]
    fn the_newest_are_kept_and_found_by_verb() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut history = history(&directory);
        let mut keep = |verb| insert(&mut history.connection, &change(verb), 3).expect("a change");
        let builds = [keep("build"), keep("build")];
        let checks = [keep("check"), keep("check")];
        let [gone, build] = builds;
        let [second, newest] = checks;
        let ids = |verb| history.change_ids(verb).expect("read");
        assert_eq!(ids(None), [newest, second, build]);
        assert_eq!(ids(Some("build")), [build]);
        // It was under way all the time.
        history
            .end_change(gone, &change("build"))
            .expect("nothing to end");
        assert_eq!(history.change(gone).expect("read"), None);
    }
}
