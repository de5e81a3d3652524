//! Signals while a tool runs: it ends, nothing is left, and the finished runs are kept.

use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};

use super::{Stage, fake, samples, source};
use crate::run::{Session, comes_true};
use crate::skip;

/// Copies an image, and the second time goes on for longer than anyone waits, as several processes,
/// with files half written.
const SLOW: &str = "\
[ \"$1\" = -version ] && echo fake && exit
if [ -e once ]; then
    echo half > \"$2\"
    mkdir -p \"${2%/*}/unpacked/a\"
    sleep 30 &
    sleep 30
fi
cp image.sqfs \"$2\" && echo > once";

/// Starts a study, and returns when its second image is being made.
fn start(session: &Session, tools: &Stage) -> Child {
    let source = source(session.directory());
    let mut build = session.command(["-q", "build", "-b", "64K", "--"]);
    let status = build
        .arg(&source)
        .arg(session.at("image.sqfs"))
        .status()
        .unwrap();
    assert!(status.success());
    let path = fake(tools, "mksquashfs", SLOW);
    let args = "bench build --tools mksquashfs --unpackers coldpress --threads 2 --blocks 64K --runs 3 \
                --work-dir . --samples samples.json --";
    let mut bench: Command = session.command(args.split_whitespace());
    bench.arg(&source).env("PATH", path);
    bench.env("COLDPRESS_HISTORY", session.at("history.sqlite"));
    let child = session.start(&mut bench);
    let is_left = |what: &str| {
        session
            .leftovers()
            .iter()
            .filter(|line| line.contains(what))
            .count()
    };
    assert!(comes_true(|| is_left("sleep 30") == 2));
    assert_eq!(is_left("file .coldpress-"), 1);
    child
}

/// What the history says of the study.
fn listed(session: &Session) -> String {
    let mut list = session.command(["history"]);
    list.env("COLDPRESS_HISTORY", session.at("history.sqlite"));
    String::from_utf8(list.output().unwrap().stdout).unwrap()
}

#[test]
fn a_study_that_is_ended_keeps_its_runs_and_leaves_nothing() {
    for (signal, code, state) in [
        (Signal::INT, Some(130), "interrupted"),
        (Signal::TERM, Some(130), "interrupted"),
        (Signal::KILL, None, "killed"),
    ] {
        // What the tool started is only found in a cgroup then.
        if signal == Signal::KILL && skip::without_root() {
            continue;
        }
        // The drop of the session demands that nothing is left.
        let (tools, session) = (Stage::new(), Session::new());
        let child = start(&session, &tools);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ran = Session::end(child);
        assert_eq!(ran.code, code, "{signal:?}: {}", ran.stderr);
        let listed = listed(&session);
        assert!(listed.contains(state), "{signal:?}: {listed}");
        if code.is_some() {
            assert!(
                ran.stderr
                    .contains("2 runs kept: `coldpress history show 1`"),
                "{}",
                ran.stderr
            );
            assert_eq!(ran.stdout, b"");
            let study = samples(&session.at("samples.json"));
            assert_eq!(study["state"], "interrupted");
            assert_eq!(study["runs"].as_array().unwrap().len(), 2);
        } else {
            assert!(!session.at("samples.json").exists());
        }
    }
}
