//! Studies as a list names them, without their runs.

use rusqlite::Connection;

use crate::error::Error;
use crate::rows::{from_text, origin};
use crate::store::History;
use crate::studies::StudyId;
use crate::study::{Kind, Origin, State};

/// A line of the list of studies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its number.
    pub id: StudyId,
    /// What was measured.
    pub kind: Kind,
    /// What it is called.
    pub title: String,
    /// When it began, in milliseconds since 1970.
    pub began_unix_ms: u64,
    /// Whose figures they are.
    pub origin: Origin,
    /// How it ended.
    pub state: State,
    /// Who began it, as signed by [`History::signed`]; `None` for one that was imported.
    pub writer: Option<String>,
    /// Number of contestants.
    pub contestants: u64,
    /// Number of runs that count.
    pub counted: u64,
    /// Number of runs that do not.
    pub excluded: u64,
}

impl History {
    /// All studies, by their numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Database`].
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        list(&self.connection).map_err(self.failed("read"))
    }
}

fn list(connection: &Connection) -> rusqlite::Result<Vec<Listed>> {
    let sql = "SELECT id, kind, title, began_unix_ms, citation, state, writer, \
               (SELECT count(*) FROM contestant WHERE study = study.id), \
               (SELECT count(*) FROM run WHERE study = study.id AND excluded IS NULL), \
               (SELECT count(*) FROM run WHERE study = study.id AND excluded IS NOT NULL) \
               FROM study ORDER BY id";
    connection
        .prepare(sql)?
        .query_map([], |row| {
            let count = |column| {
                let count = row.get::<_, i64>(column)?;
                Ok::<_, rusqlite::Error>(u64::try_from(count).unwrap_or(0))
            };
            Ok(Listed {
                id: row.get(0)?,
                kind: from_text(row, 1)?,
                title: row.get(2)?,
                began_unix_ms: count(3)?,
                origin: origin(row, 4)?,
                state: from_text(row, 5)?,
                writer: row.get(6)?,
                contestants: count(7)?,
                counted: count(8)?,
                excluded: count(9)?,
            })
        })?
        .collect()
}
