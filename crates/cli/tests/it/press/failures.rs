//! A COMMAND that fails ends the press with a sentence, and takes nothing away.

use std::fs;

use super::session;
use crate::run::{Session, names};
use crate::skip;

/// Presses over an old image and demands that the press could not run.
fn fails(session: &Session, args: &[&str]) -> String {
    fs::write(session.at("image"), "old").unwrap();
    let begin = ["-q", "press", "source", "-o", "image", "--runs", "1"];
    let ran = session.run(begin.iter().chain(args));
    assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
    assert_eq!(ran.stdout, b"", "{args:?}");
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    ran.stderr
}

fn demand(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}

#[test]
fn a_command_that_fails_while_recorded_leaves_the_old_image() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    let sh = |script| {
        [
            "--plan-out",
            "plan",
            "--timeout",
            "1",
            "--",
            "/bin/sh",
            "-c",
            script,
        ]
    };
    let cases: [(&[&str], &[&str]); 6] = [
        (
            &sh("echo no such tune >&2; exit 3"),
            &["`/bin/sh`", "exit status 3", "no such tune"],
        ),
        (&sh("exit 9"), &["`/bin/sh`", "exit status 9"]),
        (&sh("kill -TERM $$"), &["`/bin/sh`", "signal 15"]),
        (
            &sh("echo waiting >&2; sleep 30 & wait"),
            &["`/bin/sh`", "within 1 s", "waiting", "--timeout"],
        ),
        (
            &["--", "/nowhere/at-all"],
            &["`/nowhere/at-all`", "No such file or directory"],
        ),
        (&["--chroot", "--", "/bin/sh"], &["proc", "--chroot"]),
    ];
    for (args, parts) in cases {
        demand(&fails(&session, args), parts);
        assert_eq!(fs::read(session.at("image")).unwrap(), b"old", "{args:?}");
        assert_eq!(names(session.directory()), ["image", "source"], "{args:?}");
    }
}

/// The image is in place by then; what is missing is the proof.
#[test]
fn a_command_that_fails_while_measured_is_told_with_its_last_words() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    fs::write(session.at("plan"), "coldpress-plan 1\n").unwrap();
    let script = "echo no such tune >&2; exit 3";
    let args = [
        "--plan",
        "plan",
        "--samples",
        "out",
        "--",
        "/bin/sh",
        "-c",
        script,
    ];
    let parts = ["`/bin/sh`", "exit code 3", "no such tune", "in place"];
    demand(&fails(&session, &args), &parts);
    session.done(["-q", "build", "--plan", "plan", "source", "built"]);
    assert!(fs::read(session.at("image")).unwrap() == fs::read(session.at("built")).unwrap());
    assert_eq!(
        names(session.directory()),
        ["built", "image", "plan", "source"]
    );
}

#[test]
fn what_a_command_leaves_running_is_ended_with_it() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    // In a session of its own, and with its working directory in the image.
    let script = "cd {root}/app; setsid sleep 30 & sleep 0.2";
    let args = "-q press source -o image --runs 1 -- /bin/sh -c".split(' ');
    session.done(args.chain([script]));
}

#[test]
fn an_image_inside_the_source_is_refused() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    let before = names(&session.at("source"));
    let ran = session.run("press source -o source/image -- /bin/true".split(' '));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let parts = ["`source/image`", "would lie inside", "`source`"];
    demand(&ran.stderr, &parts);
    assert_eq!(names(&session.at("source")), before);
}
