//! Signals at various moments of a study: nothing is left but the runs that were over.

use rustix::process::{Pid, Signal, kill_process};

use super::{kept, session};
use crate::run::{Session, comes_true};
use crate::skip;

/// Counts its starts in a file, and in the one whose number is the second argument goes on for
/// longer than anyone waits, as two processes that left its session.
const COUNTING: &str = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; cat $1/app/lib/part-00/module-3 > /dev/null; \
                        [ $n != $2 ] || { setsid sleep 30 & echo > started; sleep 30; true; }";

/// Ends a study in its start of this number, from 0, with a signal; returns how many runs the
/// history has.
fn ended(options: &str, start: u32, signal: Signal, code: Option<i32>) -> usize {
    let session = session();
    let args = format!("bench launch source --work-dir . --runs 3 {options} -- /bin/sh -c");
    let number = start.to_string();
    let words = [COUNTING, "sh", "{root}", &number];
    let mut command = session.command(args.split_whitespace().chain(words));
    command.env("COLDPRESS_HISTORY", session.at("history.sqlite"));
    let child = session.start(&mut command);
    assert!(comes_true(|| session.at("started").exists()));
    let found = session.leftovers();
    for kind in ["loop device", "cgroup", "file", "process"] {
        let is_there = found.iter().any(|line| line.starts_with(kind));
        assert!(is_there, "no {kind}: {found:#?}");
    }
    kill_process(Pid::from_child(&child), signal).unwrap();
    let ran = Session::end(child);
    assert_eq!(ran.code, code, "{signal:?}: {}", ran.stderr);
    let study = kept(&session, 1);
    let state = study["state"].as_str().unwrap();
    // Nobody could write how it ended after a kill.
    let expected = if code.is_some() {
        "interrupted"
    } else {
        "running"
    };
    assert_eq!(state, expected);
    // The drop of the session demands that nothing else is left.
    study["runs"].as_array().unwrap().len()
}

#[test]
fn a_study_that_is_ended_keeps_its_finished_runs_and_leaves_nothing() {
    if skip::without_measuring() {
        return;
    }
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::KILL, None)] {
        // In the first start of all, in a warm one, and in a cold one of a later turn.
        for (start, runs) in [(0, 0), (3, 1), (4, 2)] {
            assert_eq!(
                ended("-c zstd,none", start, signal, code),
                runs,
                "{signal:?} {start}"
            );
        }
    }
}

#[test]
fn a_program_that_mounts_goes_too() {
    if skip::without_measuring() || skip::without_fuse() || skip::without_peer("squashfuse_ll") {
        return;
    }
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::KILL, None)] {
        // Both contestants have a start of each kind by then.
        let options = "--mount fuse --mount kernel";
        let runs = ended_in_fuse(options, signal, code);
        assert_eq!(runs, 0);
    }
}

/// The first contestant may be either: only what is left matters.
fn ended_in_fuse(options: &str, signal: Signal, code: Option<i32>) -> usize {
    ended(&format!("{options} --seed 1"), 0, signal, code)
}
