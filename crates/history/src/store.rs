//! The database: opened, brought up to date, shared with other processes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::Error;
use crate::schema::{MIGRATIONS, NEWEST};

/// How long a writer waits for another. A transaction takes milliseconds; a disk that others keep
/// busy can hold one up for seconds.
const BUSY: Duration = Duration::from_secs(30);

/// All studies and changes of a user.
#[derive(Debug)]
pub struct History {
    pub(crate) connection: Connection,
    pub(crate) writer: Option<String>,
    path: PathBuf,
}

impl History {
    /// Opens the database in a file, which is made if it is missing, and brings its tables up to
    /// date.
    ///
    /// Any number of processes may have it open: readers never wait, writers wait for each other.
    ///
    /// # Errors
    ///
    /// [`Error::Database`] if the file is no database or cannot be written, [`Error::Newer`].
    pub fn open(path: &Path) -> Result<History, Error> {
        let failed = |action| {
            move |source| Error::Database {
                action,
                path: path.to_owned(),
                source,
            }
        };
        let mut connection = Connection::open(path).map_err(failed("open"))?;
        configure(&connection).map_err(failed("open"))?;
        let found = migrate(&mut connection).map_err(failed("bring up to date"))?;
        if found > NEWEST {
            return Err(Error::Newer {
                path: path.to_owned(),
                found,
                known: NEWEST,
            });
        }
        Ok(History {
            connection,
            writer: None,
            path: path.to_owned(),
        })
    }

    /// Signs the studies that are begun from here on, so that one under way can be told from one
    /// whose writer was killed.
    ///
    /// * `writer`: names the process for all times; given back by [`History::list`] as it is.
    #[must_use]
    pub fn signed(self, writer: String) -> History {
        History {
            writer: Some(writer),
            ..self
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What SQLite says, as an error that names the file.
    pub(crate) fn failed(
        &self,
        action: &'static str,
    ) -> impl FnOnce(rusqlite::Error) -> Error + use<> {
        let path = self.path.clone();
        move |source| Error::Database {
            action,
            path,
            source,
        }
    }
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    // A commit is on the disk when it returns, so that not even a power failure takes a finished
    // run: FULL, since NORMAL does not sync the log of each commit.
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)
}

/// Applies what is missing; returns the version of the tables.
fn migrate(connection: &mut Connection) -> rusqlite::Result<u32> {
    // Immediate: of two processes that find an old database, one waits until the other has brought
    // it up to date.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for (version, migration) in MIGRATIONS {
        if version > found {
            transaction.execute_batch(migration)?;
            transaction.pragma_update(None, "user_version", version)?;
        }
    }
    transaction.commit()?;
    Ok(found.max(NEWEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_database_is_brought_up_to_date_and_a_newer_one_refused() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("history.sqlite");
        for oldest in 0..=NEWEST {
            let old = Connection::open(&path).expect("a new file");
            for (version, migration) in MIGRATIONS.iter().filter(|(version, _)| *version <= oldest)
            {
                old.execute_batch(migration).expect("its own tables");
                old.pragma_update(None, "user_version", version)
                    .expect("a number");
            }
            drop(old);
            let history = History::open(&path).expect("an older version");
            let tables =
                history
                    .connection
                    .query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
                        row.get::<_, u32>(0)
                    });
            assert!(tables.expect("a count") > 0);
            drop(history);
            std::fs::remove_file(&path).expect("it is there");
        }
        let newer = Connection::open(&path).expect("a new file");
        newer
            .pragma_update(None, "user_version", NEWEST + 1)
            .expect("a number");
        drop(newer);
        let error = History::open(&path).expect_err("a newer version");
        assert!(matches!(error, Error::Newer { .. }), "{error}");
    }

    #[test]
    fn what_is_no_database_is_refused() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("history.sqlite");
        std::fs::write(
            &path,
            "no database, but a text of more than a hundred bytes".repeat(9),
        )
        .expect("a new file");
        let error = History::open(&path).expect_err("a text");
        assert!(matches!(error, Error::Database { .. }), "{error}");
    }
}
