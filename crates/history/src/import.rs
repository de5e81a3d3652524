//! Studies of others, taken in once.

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::error::Error;
use crate::export::read_json;
use crate::published::published;
use crate::rows::{insert_into, insert_run, select, set_state, text};
use crate::store::History;
use crate::studies::{StudyId, finite};
use crate::study::{State, Study};

/// What became of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// It was not there and is now.
    New(StudyId),
    /// It was there already, with all its runs.
    Known(StudyId),
    /// It was there without its last runs, which were added.
    Completed(StudyId),
}

/// Reads the studies of a file: an export as JSON, or a published table, which is known by its
/// first line.
///
/// Any bytes give studies or an error.
///
/// # Errors
///
/// [`Error::NoStudies`] and all errors that say what is wrong with an export or a table.
pub fn read_studies(bytes: &[u8]) -> Result<Vec<Study>, Error> {
    if bytes.trim_ascii_start().starts_with(b"{") {
        return read_json(bytes);
    }
    Ok(vec![published(bytes)?])
}

impl History {
    /// Keeps a study of another database or publication, unless it is there.
    ///
    /// Studies are the same if they agree in all but their runs, and the runs of one are the first
    /// runs of the other: then it was exported while it was under way.
    ///
    /// # Errors
    ///
    /// [`Error::Database`], [`Error::NoNumber`].
    pub fn import(&mut self, study: &Study) -> Result<Imported, Error> {
        finite(&study.contestants, &study.runs)?;
        let failed = self.failed("write");
        let import = |connection: &mut Connection| {
            // Immediate: of two processes that import the same study, one waits and finds it.
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let imported = import(&transaction, study)?;
            transaction.commit()?;
            Ok(imported)
        };
        import(&mut self.connection).map_err(failed)
    }
}

fn import(transaction: &Transaction<'_>, study: &Study) -> rusqlite::Result<Imported> {
    for id in alike(transaction, study)? {
        let Some(known) = select(transaction, id)?.filter(|known| is_same(known, study)) else {
            continue;
        };
        let missing = study.runs.get(known.runs.len()..).unwrap_or_default();
        let is_over = known.state == State::Running && study.state != State::Running;
        if missing.is_empty() && !is_over {
            return Ok(Imported::Known(id));
        }
        for run in missing {
            insert_run(transaction, id, run)?;
        }
        set_state(transaction, id, study.state)?;
        return Ok(Imported::Completed(id));
    }
    Ok(Imported::New(insert_into(transaction, study, None)?))
}

/// Studies that began at the same time under the same title.
fn alike(connection: &Connection, study: &Study) -> rusqlite::Result<Vec<StudyId>> {
    let began = i64::try_from(study.began_unix_ms).unwrap_or(i64::MAX);
    connection
        .prepare("SELECT id FROM study WHERE kind = ?1 AND title = ?2 AND began_unix_ms = ?3")?
        .query_map(params![text(&study.kind), study.title, began], |row| {
            row.get(0)
        })?
        .collect()
}

fn is_same(known: &Study, study: &Study) -> bool {
    known.origin == study.origin
        && known.facts == study.facts
        && known.contestants == study.contestants
        && known
            .runs
            .iter()
            .zip(&study.runs)
            .all(|(known, run)| known == run)
}
