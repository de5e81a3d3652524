//! Signals while a press records and while it measures: within ten seconds nothing is left.

use std::fs;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use super::session;
use crate::run::{Session, comes_true};
use crate::skip;

/// Tells that it was started, and goes on for longer than anyone waits, as two processes.
const ENDLESS: &str = "echo > started; sleep 30; true";

/// A plan that takes the place of the recording, so that the first start is measured.
const EMPTY_PLAN: &str = "coldpress-plan 1\n";

/// Starts a press or a recording of [`ENDLESS`], and returns when that runs.
fn start(session: &Session, args: &[&str]) -> Child {
    fs::write(session.at("image"), "old").unwrap();
    fs::write(session.at("plan"), EMPTY_PLAN).unwrap();
    let command = ["--", "/bin/sh", "-c", ENDLESS];
    let child = session.start(&mut session.command(args.iter().chain(&command)));
    assert!(comes_true(|| session.at("started").exists()));
    child
}

/// Demands that the session holds a thing of each kind: what is looked for is found.
fn demand(session: &Session, kinds: &[&str]) {
    let found = session.leftovers();
    for kind in kinds {
        assert!(
            found.iter().any(|line| line.starts_with(kind)),
            "no {kind}: {found:#?}"
        );
    }
    // It is mounted where nobody else sees it.
    assert!(
        !found.iter().any(|line| line.starts_with("mount")),
        "{found:#?}"
    );
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// One signal to a run; the drop of the session demands that nothing is left.
fn ends(args: &[&str], kinds: &[&str], with: Signal, code: Option<i32>) -> Session {
    let session = session();
    let child = start(&session, args);
    demand(&session, kinds);
    signal(&child, with);
    let ran = Session::end(child);
    assert_eq!(ran.code, code, "{with:?}: {}", ran.stderr);
    session
}

const SIGNALS: [(Signal, Option<i32>); 3] = [
    (Signal::INT, Some(130)),
    (Signal::TERM, Some(130)),
    (Signal::KILL, None),
];
const WHILE_RECORDING: [&str; 4] = ["loop device", "trace instance", "file", "process"];
const WHILE_MEASURING: [&str; 4] = ["loop device", "cgroup", "file", "process"];

#[test]
fn a_press_that_is_ended_while_it_records_leaves_the_old_image_and_nothing_else() {
    if skip::without_measuring() {
        return;
    }
    for (signal, code) in SIGNALS {
        let args = ["press", "source", "-o", "image"];
        let session = ends(&args, &WHILE_RECORDING, signal, code);
        assert_eq!(fs::read(session.at("image")).unwrap(), b"old");
    }
}

#[test]
fn a_press_that_is_ended_while_it_measures_leaves_a_whole_image() {
    if skip::without_measuring() {
        return;
    }
    for (signal, code) in SIGNALS {
        let args = ["press", "source", "-o", "image", "--plan", "plan"];
        let session = ends(&args, &WHILE_MEASURING, signal, code);
        assert_eq!(session.done(["check", "image"]).text(), "");
    }
}

/// Which works beside its trace, or elsewhere if that goes to standard output.
#[test]
fn a_recording_that_is_ended_leaves_nothing() {
    if skip::without_recording() {
        return;
    }
    for (signal, code) in SIGNALS {
        let args: [&[&str]; 2] = [&["record", "source"], &["record", "source", "-o", "new"]];
        for args in args {
            let session = ends(args, &WHILE_RECORDING, signal, code);
            assert!(!session.at("new").exists());
        }
    }
}

/// The program is neither stopped nor left running by the end of who was told its calls.
#[test]
fn a_recording_of_opens_that_is_ended_leaves_nothing() {
    if skip::without_root() {
        return;
    }
    for (signal, code) in SIGNALS {
        let args = ["record", "source", "-o", "new", "--recorder", "opens"];
        let session = ends(&args, &["process", "file"], signal, code);
        assert!(!session.at("new").exists());
    }
}

#[test]
fn an_interrupted_press_says_so() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    let child = start(&session, &["press", "source", "-o", "image"]);
    // An impatient user.
    signal(&child, Signal::INT);
    signal(&child, Signal::INT);
    let ran = Session::end(child);
    assert_eq!(ran.code, Some(130));
    assert_eq!(ran.stdout, b"");
    assert!(ran.stderr.starts_with("interrupted"), "{}", ran.stderr);
}
