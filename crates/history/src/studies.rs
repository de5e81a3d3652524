//! Studies in the database: written run by run, read as a whole.

use std::slice;

use rusqlite::Connection;

use crate::error::Error;
use crate::rows::{insert_into, insert_run, select, set_state};
use crate::store::History;
use crate::study::{Contestant, Run, State, Study};

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

/// JSON has no word for infinity and for what is no number: a figure that could not be read again
/// is not written.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Figures, Kind, Origin};

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
