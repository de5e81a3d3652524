//! `bench launch` with the running kernel: who takes part, what is measured, and what is left when
//! it is ended.

mod killed;

use std::fs;

use serde_json::Value;

use crate::press::source;
use crate::run::{Ran, Session, coldpress};
use crate::skip;

/// Reads some small files.
const START: &str = "cat $1/app/lib/part-*/module-3 > /dev/null";

/// A session with a source and a history of its own.
fn session() -> Session {
    let session = Session::new();
    source::write(&session.at("source"));
    session
}

/// Runs `bench launch` to its end.
fn launch(session: &Session, options: &str) -> Ran {
    let args = format!("bench launch source --work-dir . {options} -- /bin/sh -c");
    let mut command = session.command(args.split_whitespace().chain([START, "sh", "{root}"]));
    command.env("COLDPRESS_HISTORY", session.at("history.sqlite"));
    let output = session.start(&mut command).wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// What the history says of a study.
fn kept(session: &Session, id: u32) -> Value {
    let id = id.to_string();
    let mut show = session.command(["history", "show", &id, "--json"]);
    show.env("COLDPRESS_HISTORY", session.at("history.sqlite"));
    serde_json::from_slice(&show.output().unwrap().stdout).unwrap()
}

fn names(study: &Value) -> Vec<&str> {
    let contestants = study["contestants"].as_array().unwrap().iter();
    contestants
        .map(|one| one["name"].as_str().unwrap())
        .collect()
}

#[test]
fn images_of_several_kinds_and_the_directory_are_compared() {
    if skip::without_measuring() || skip::without_peer("mksquashfs") {
        return;
    }
    let session = session();
    session.done("-q build -c gzip -l 1 source other.sqfs".split(' '));
    let options = "-c zstd,none --peers mksquashfs --image old=other.sqfs --from-source --walk --runs 2 --seed 5 --json";
    let ran = launch(&session, options);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mut json = ran.json();
    let study = json["study"].take();
    let summary = json["summary"].as_array().unwrap();
    let sizes = summary.iter().filter(|row| row["figure"] == "size_bytes");
    assert_eq!(sizes.count(), 6);
    let expected = [
        "coldpress zstd-15 128K",
        "coldpress none 128K",
        "mksquashfs zstd-15 128K",
        "mksquashfs none 128K",
        "old",
        "try",
    ];
    assert_eq!(names(&study), expected);
    assert_eq!(study["state"], "done");
    assert_eq!(
        [&study["facts"]["seed"], &study["facts"]["ready"]],
        ["5", "exit"]
    );
    for run in study["runs"].as_array().unwrap() {
        assert_eq!(run["excluded"], Value::Null, "{run}");
        assert_eq!(run["figures"]["resident_pages"], 0.0, "{run}");
        for figure in ["cold_s", "warm_s", "walk_s"] {
            assert!(run["figures"][figure].as_f64() > Some(0.0), "{run}");
        }
        // The disk of a directory may be none whose reads are counted.
        let is_image = run["contestant"] != 5;
        assert!(
            !is_image || run["figures"]["reads"].as_f64() > Some(0.0),
            "{run}"
        );
    }
    let contestants = study["contestants"].as_array().unwrap();
    for (index, contestant) in contestants.iter().enumerate() {
        let figures = &contestant["figures"];
        assert!(figures["size_bytes"].as_f64() > Some(0.0), "{contestant}");
        assert_eq!(figures["build_s"].is_f64(), index < 4, "{contestant}");
    }
    assert_eq!(kept(&session, 1), study);
    // What was drawn once is drawn again.
    let order = |study: &Value| {
        let runs = study["runs"].as_array().unwrap().iter();
        runs.map(|run| run["contestant"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(order(&study).len(), 12);
}

#[test]
fn a_program_mounts_and_a_table_tells() {
    if skip::without_measuring() || skip::without_fuse() || skip::without_peer("squashfuse_ll") {
        return;
    }
    let session = session();
    let options =
        "--mount kernel --mount fuse --runs 1 --samples samples.json --report report.html";
    let ran = launch(&session, options);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = ran.text();
    for expected in [
        "cold_s",
        "warm_s",
        "zstd-15 128K (squashfuse_ll)",
        "drawn from the seed",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(
        ran.stderr
            .contains("2 runs kept: `coldpress history show 1`"),
        "{}",
        ran.stderr
    );
    let report = fs::read_to_string(session.at("report.html")).unwrap();
    assert!(report.contains("squashfuse_ll"));
    assert!(session.at("samples.json").exists());
}

#[test]
fn what_the_kernel_does_not_mount_is_left_out_and_named() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    fs::write(session.at("junk"), vec![0; 8192]).unwrap();
    let ran = launch(
        &session,
        "--image junk --from-source --runs 1 --no-store --json",
    );
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("left out: junk: it holds no file system"),
        "{}",
        ran.stderr
    );
    assert_eq!(names(&ran.json()["study"]), ["try"]);
    assert!(!session.at("history.sqlite").exists());
    let ran = launch(&session, "--image junk --runs 1");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("no contestant is left"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_image_of_other_files_is_named() {
    if skip::without_measuring() {
        return;
    }
    let session = session();
    session.done("-q build source same.sqfs".split(' '));
    fs::write(session.at("source/app/more"), "x").unwrap();
    session.done("-q build source other.sqfs".split(' '));
    fs::remove_file(session.at("source/app/more")).unwrap();
    let ran = launch(
        &session,
        "--from-source --image same.sqfs --image other.sqfs --walk --runs 1 --no-store",
    );
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let warnings: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|it| it.starts_with("warning: "))
        .collect();
    assert_eq!(warnings.len(), 1, "{}", ran.stderr);
    assert!(
        warnings[0].contains("other.sqfs has another tree than "),
        "{}",
        ran.stderr
    );
}

#[test]
fn wrong_wishes_are_refused_before_anything_is_done() {
    let stage = crate::run::Stage::new();
    fs::create_dir(stage.at("source")).unwrap();
    for (options, says) in [
        ("--ready port=http", "`http` is no port"),
        ("--ready line=(", "unclosed group"),
        ("--ready soon", "begins with no known word"),
        ("--block-sizes 5000", "power of two"),
        ("--compressors zip", "a compressor is gzip"),
        ("--device floppy", "device `floppy`"),
        ("--image missing.sqfs", "cannot read `missing.sqfs`"),
        ("--samples source/x", "source"),
    ] {
        let args = format!("bench launch source {options} -- true");
        let ran = stage.run(args.split(' '));
        assert_eq!(ran.code, Some(2), "{options}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{options}: {}", ran.stderr);
    }
    let ran = coldpress(["bench", "launch", "/nowhere", "--", "true"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

#[test]
fn a_recording_ends_when_the_command_is_ready() {
    if skip::without_recording() {
        return;
    }
    let session = session();
    // What it reads when it is told to end belongs to no start.
    let script = "trap 'cat $1/app/lib/part-01/module-5 > /dev/null; exit' TERM; \
                  cat $1/app/lib/part-00/module-3 > /dev/null; echo up; sleep 60 & wait";
    let args = "-q record source -o trace --ready line=^up$ -- /bin/sh -c".split(' ');
    session.done(args.chain([script, "sh", "{root}"]));
    let trace = fs::read_to_string(session.at("trace")).unwrap();
    // The header names both, as words of the command.
    let has = |name: &str| trace.lines().any(|line| line.ends_with(name));
    assert!(has(" /app/lib/part-00/module-3"), "{trace}");
    assert!(!has(" /app/lib/part-01/module-5"), "{trace}");
    let args = "record source -o trace --ready line=up -- /bin/sh -c".split(' ');
    let ran = session.run(args.chain(["cat $1/data/large-7 | wc -c; exit 3", "sh", "{root}"]));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let expected = "ended with exit status 3 before it was ready (`line=up`)";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
}
