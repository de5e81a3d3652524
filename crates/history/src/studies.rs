//! Studies in the database: written run by run, read as a whole.

use std::slice;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::store::History;
use crate::study::{Contestant, Origin, Run, State, Study};

/// The number of a study in its database.
pub type StudyId = i64;

impl History {
    /// Keeps a study: as it is now, with the runs that it has already.
    ///
    /// Everything is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// [`Error::Database`], [`Error::NoNumber`].
    pub fn begin(&mut self, study: &Study) -> Result<StudyId, Error> {
        finite(&study.contestants, &study.runs)?;
        let failed = self.failed("write");
        let writer = self.writer.as_deref();
        insert(&mut self.connection, study, writer).map_err(failed)
    }

    /// Adds a run that is over to a study. It is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// [`Error::Database`], [`Error::NoNumber`].
    pub fn append(&mut self, study: StudyId, run: &Run) -> Result<(), Error> {
        finite(&[], slice::from_ref(run))?;
        insert_run(&self.connection, study, run).map_err(self.failed("write"))
    }

    /// States how a study ended.
    ///
    /// # Errors
    ///
    /// [`Error::Database`].
    pub fn finish(&mut self, study: StudyId, state: State) -> Result<(), Error> {
        set_state(&self.connection, study, state).map_err(self.failed("write"))
    }

    /// A study with all its runs; `None` if there is none of that number.
    ///
    /// # Errors
    ///
    /// [`Error::Database`].
    pub fn study(&self, id: StudyId) -> Result<Option<Study>, Error> {
        select(&self.connection, id).map_err(self.failed("read"))
    }

    /// Removes a study with all its runs; `false` if there is none of that number.
    ///
    /// # Errors
    ///
    /// [`Error::Database`].
    pub fn forget(&mut self, id: StudyId) -> Result<bool, Error> {
        let deleted = self
            .connection
            .execute("DELETE FROM study WHERE id = ?1", [id]);
        Ok(deleted.map_err(self.failed("write"))? > 0)
    }
}

/// JSON has no word for infinity and for what is no number: a figure that could not be read again is not written.
pub(crate) fn finite(contestants: &[Contestant], runs: &[Run]) -> Result<(), Error> {
    let of_contestants = contestants.iter().map(|contestant| &contestant.figures);
    let mut figures = of_contestants
        .chain(runs.iter().map(|run| &run.figures))
        .flatten();
    match figures.find(|(_, value)| !value.is_finite()) {
        Some((figure, value)) => Err(Error::NoNumber {
            figure: figure.clone(),
            value: *value,
        }),
        None => Ok(()),
    }
}

fn insert(
    connection: &mut Connection,
    study: &Study,
    writer: Option<&str>,
) -> rusqlite::Result<StudyId> {
    let transaction = connection.transaction()?;
    let id = insert_into(&transaction, study, writer)?;
    transaction.commit()?;
    Ok(id)
}

/// The rows of a study, within a transaction.
pub(crate) fn insert_into(
    transaction: &Connection,
    study: &Study,
    writer: Option<&str>,
) -> rusqlite::Result<StudyId> {
    let citation = match &study.origin {
        Origin::Measured => None,
        Origin::Published { citation } => Some(citation),
    };
    transaction.execute(
        "INSERT INTO study (kind, title, began_unix_ms, citation, state, facts, writer) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            text(&study.kind),
            study.title,
            i64::try_from(study.began_unix_ms).unwrap_or(i64::MAX),
            citation,
            text(&study.state),
            json(&study.facts),
            writer,
        ],
    )?;
    let id = transaction.last_insert_rowid();
    for (number, contestant) in study.contestants.iter().enumerate() {
        transaction.execute(
            "INSERT INTO contestant (study, number, name, facts, figures) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                id,
                index_to_sql(number),
                contestant.name,
                json(&contestant.facts),
                json(&contestant.figures),
            ],
        )?;
    }
    for run in &study.runs {
        insert_run(transaction, id, run)?;
    }
    Ok(id)
}

pub(crate) fn insert_run(
    connection: &Connection,
    study: StudyId,
    run: &Run,
) -> rusqlite::Result<()> {
    connection
        .execute(
            "INSERT INTO run (study, contestant, turn, excluded, figures) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                study,
                index_to_sql(run.contestant),
                run.turn,
                run.excluded,
                json(&run.figures),
            ],
        )
        .map(drop)
}

pub(crate) fn set_state(
    connection: &Connection,
    study: StudyId,
    state: State,
) -> rusqlite::Result<()> {
    let sql = "UPDATE study SET state = ?2 WHERE id = ?1";
    connection
        .execute(sql, params![study, text(&state)])
        .map(drop)
}

pub(crate) fn select(connection: &Connection, id: StudyId) -> rusqlite::Result<Option<Study>> {
    let sql = "SELECT kind, title, began_unix_ms, citation, state, facts FROM study WHERE id = ?1";
    let study = connection.query_row(sql, [id], |row| {
        Ok(Study {
            kind: from_text(row, 0)?,
            title: row.get(1)?,
            began_unix_ms: u64::try_from(row.get::<_, i64>(2)?).unwrap_or(0),
            origin: origin(row, 3)?,
            state: from_text(row, 4)?,
            facts: from_json(row, 5)?,
            contestants: Vec::new(),
            runs: Vec::new(),
        })
    });
    let Some(mut study) = study.optional()? else {
        return Ok(None);
    };
    study.contestants = connection
        .prepare("SELECT name, facts, figures FROM contestant WHERE study = ?1 ORDER BY number")?
        .query_map([id], |row| {
            Ok(Contestant {
                name: row.get(0)?,
                facts: from_json(row, 1)?,
                figures: from_json(row, 2)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    study.runs = connection
        .prepare(
            "SELECT contestant, turn, excluded, figures FROM run WHERE study = ?1 ORDER BY id",
        )?
        .query_map([id], |row| {
            Ok(Run {
                contestant: usize::try_from(row.get::<_, u32>(0)?).unwrap_or(usize::MAX),
                turn: row.get(1)?,
                excluded: row.get(2)?,
                figures: from_json(row, 3)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Some(study))
}

pub(crate) fn origin(row: &Row<'_>, column: usize) -> rusqlite::Result<Origin> {
    Ok(match row.get(column)? {
        None => Origin::Measured,
        Some(citation) => Origin::Published { citation },
    })
}

fn index_to_sql(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

/// Names and numbers always have a form in JSON; a number that is none (NaN) becomes null, which is refused when it
/// is read.
fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    parsed(&row.get::<_, String>(column)?, column)
}

/// A plain name, as serde writes it.
pub(crate) fn text<T: Serialize>(value: &T) -> String {
    json(value).trim_matches('"').to_owned()
}

pub(crate) fn from_text<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let name: String = row.get(column)?;
    parsed(&serde_json::Value::String(name).to_string(), column)
}

fn parsed<T: DeserializeOwned>(text: &str, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Figures, Kind};

    #[test]
    fn a_study_is_read_as_it_was_written_run_by_run() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("history.sqlite");
        let run = |contestant, cold_s| Run {
            contestant,
            turn: 3,
            excluded: (contestant == 1).then(|| "the command failed".to_owned()),
            figures: Figures::from([("cold_s".to_owned(), cold_s)]),
        };
        let mut study = Study {
            kind: Kind::Launch,
            title: "a start".to_owned(),
            began_unix_ms: 1_700_000_000_123,
            origin: Origin::Published {
                citation: "a paper".to_owned(),
            },
            state: State::Running,
            facts: [("kernel".to_owned(), "6.18".to_owned())].into(),
            contestants: ["plain", "ordered"]
                .map(|name| Contestant {
                    name: name.to_owned(),
                    ..Contestant::default()
                })
                .to_vec(),
            runs: vec![run(0, 0.1)],
        };
        let id = {
            let mut history = History::open(&path).expect("a new file");
            let id = history.begin(&study).expect("a new study");
            history.append(id, &run(1, 0.25)).expect("a run");
            history.finish(id, State::Done).expect("an end");
            assert!(
                history.append(id, &run(2, 0.1)).is_err(),
                "no such contestant"
            );
            id
        };
        study.runs.push(run(1, 0.25));
        study.state = State::Done;
        let history = History::open(&path).expect("its own file");
        assert_eq!(history.study(id).expect("a database"), Some(study));
        assert_eq!(history.study(id + 1).expect("a database"), None);
    }
}
