//! Rows of the tables, and the values that they hold.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::studies::StudyId;
use crate::study::{Contestant, Origin, Run, State, Study};

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
            "INSERT INTO contestant (study, number, name, facts, figures) VALUES (?1, ?2, ?3, ?4, \
            ?5)",
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
            "INSERT INTO run (study, contestant, turn, excluded, figures) VALUES (?1, ?2, ?3, ?4, \
            ?5)",
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

/// Names and numbers always have a form in JSON; a number that is none (NaN) becomes null, which is
/// refused when it is read.
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
