//! Processes that write at once, some of which are killed.
//!
//! A writer is this very program, told to run the test of that name, which is none.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _, stdout};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use coldpress_history::{History, State, StudyId};

use crate::studies::{run, study};

/// Names the database to a writer.
const DATABASE: &str = "COLDPRESS_TEST_DATABASE";
/// What a writer says before the study and the turn that it has committed.
const COMMITTED: &str = "committed ";
const TURNS: u32 = 12;
const STUDIES: usize = 3;

#[test]
#[ignore = "a writer, which other tests start"]
fn writer() {
    let Some(database) = env::var_os(DATABASE) else {
        return;
    };
    let mut history = History::open(Path::new(&database)).unwrap();
    for _ in 0..STUDIES {
        let id = history.begin(&study("written at once", 0)).unwrap();
        for turn in 0..TURNS {
            history.append(id, &run(0, turn)).unwrap();
            writeln!(stdout(), "{COMMITTED}{id} {turn}").unwrap();
        }
        history.finish(id, State::Done).unwrap();
    }
}

/// A writer under way.
struct Writer {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    committed: Vec<(StudyId, u32)>,
}

impl Writer {
    fn start(database: &Path) -> Writer {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "writers::writer", "--ignored", "--nocapture"]);
        command.env(DATABASE, database).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Writer {
            child,
            lines,
            committed: Vec::new(),
        }
    }

    /// Listens until it has committed so many runs, or is over.
    fn listen(&mut self, count: usize) {
        while self.committed.len() < count {
            let Some(line) = self.lines.next() else { break };
            if let Some(told) = line.unwrap().strip_prefix(COMMITTED) {
                let (id, turn) = told.split_once(' ').unwrap();
                self.committed
                    .push((id.parse().unwrap(), turn.parse().unwrap()));
            }
        }
    }
}

fn check_integrity(database: &Path) {
    let connection = rusqlite::Connection::open(database).unwrap();
    let found: String = connection
        .pragma_query_value(None, "integrity_check", |row| row.get(0))
        .unwrap();
    assert_eq!(found, "ok");
    let mut broken = connection.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(broken.query([]).unwrap().next().unwrap().is_none());
}

#[test]
fn what_was_committed_is_there_whoever_else_writes_and_whoever_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("history.sqlite");
    // All of them find no database, and make one.
    let mut writers: Vec<Writer> = (0..5).map(|_| Writer::start(&database)).collect();
    let (killed, whole) = writers.split_at_mut(3);
    for (index, writer) in killed.iter_mut().enumerate() {
        writer.listen(1 + 9 * index);
        writer.child.kill().unwrap();
        // What it said before it died.
        writer.listen(usize::MAX);
        writer.child.wait().unwrap();
    }
    for writer in whole {
        writer.listen(usize::MAX);
        assert!(writer.child.wait().unwrap().success());
        assert_eq!(
            writer.committed.len(),
            STUDIES * usize::try_from(TURNS).unwrap()
        );
    }
    check_integrity(&database);
    let mut history = History::open(&database).unwrap();
    let mut states = Vec::new();
    for writer in &writers {
        for (id, turn) in &writer.committed {
            let study = history.study(*id).unwrap().expect("it was committed");
            assert!(
                study.runs.contains(&run(0, *turn)),
                "study {id}, turn {turn}"
            );
        }
        let ids = writer.committed.iter().map(|(id, _)| *id);
        let last = ids.max().and_then(|id| history.study(id).unwrap());
        states.push(last.unwrap().state);
    }
    assert_eq!(states[3..], [State::Done; 2]);
    // Those that were killed do not stand in the way of others.
    history.begin(&study("after all", 3)).unwrap();
    check_integrity(&database);
}

#[test]
fn the_number_of_a_removed_study_is_not_given_again() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("history.sqlite");
    let mut history = History::open(&database).unwrap();
    let first = history
        .begin(&study("removed while it is written", 2))
        .unwrap();
    assert!(history.forget(first).unwrap());
    assert!(!history.forget(first).unwrap());
    let second = history.begin(&study("another", 1)).unwrap();
    assert_ne!(first, second);
    assert!(history.append(first, &run(0, 2)).is_err());
    assert_eq!(history.study(second).unwrap(), Some(study("another", 1)));
    let listed = history.list().unwrap();
    assert_eq!(listed.len(), 1);
    check_integrity(&database);
}

#[test]
fn the_list_counts_runs_and_names_the_writer() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("history.sqlite");
    let mut history = History::open(&database)
        .unwrap()
        .signed("somebody".to_owned());
    let id = history.begin(&study("signed", 3)).unwrap();
    let listed = history.list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].id, listed[0].contestants), (id, 2));
    assert_eq!((listed[0].counted, listed[0].excluded), (4, 2));
    assert_eq!(listed[0].writer.as_deref(), Some("somebody"));
}

#[test]
fn a_figure_that_is_no_number_is_refused_and_spoils_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut history = History::open(&directory.path().join("history.sqlite")).unwrap();
    let id = history.begin(&study("sound", 1)).unwrap();
    for value in [f64::NAN, f64::INFINITY] {
        let mut wrong = run(0, 1);
        wrong.figures.insert("cold_s".to_owned(), value);
        let error = history.append(id, &wrong).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the figure cold_s is {value}, must be a finite number")
        );
        let mut study = study("wrong", 1);
        study.contestants[0]
            .figures
            .insert("size_bytes".to_owned(), value);
        assert!(history.begin(&study).is_err());
        assert!(history.import(&study).is_err());
    }
    assert_eq!(history.study(id).unwrap(), Some(study("sound", 1)));
    assert_eq!(history.list().unwrap().len(), 1);
}
