//! Wrong arguments, and tools that are missing, fail or lie.

use std::fs;
use std::process::Command;

use super::{bench, fake, run, samples, source};
use crate::run::{Stage, command};
use crate::skip;

/// Ways that need no other program.
const ALONE: [&str; 8] = [
    "--tools",
    "coldpress",
    "--unpackers",
    "coldpress",
    "--block-sizes",
    "64K",
    "--runs",
    "2",
];

#[test]
fn what_cannot_be_measured_is_refused_with_the_rule() {
    let stage = Stage::new();
    let source = source(stage.directory());
    fs::write(stage.at("file"), "x").unwrap();
    let inside = source.join("a/empty");
    let inside = inside.to_str().unwrap();
    let source = source.to_str().unwrap();
    let cases: [(&[&str], &str); 11] = [
        (&["nowhere"], "cannot read `nowhere`"),
        (&["file"], "`file` is not a directory"),
        (
            &["--work-dir", inside, "--", source],
            "would lie inside the source",
        ),
        (
            &["--keep", inside, "--", source],
            "would lie inside the source",
        ),
        (&["--work-dir", "nowhere", "--", source], "cannot find"),
        (
            &["--keep", "nowhere", "--", source],
            "cannot find `nowhere`",
        ),
        (
            &["--block-sizes", "100K", "--", source],
            "must be a power of two",
        ),
        (
            &["--compressors", "lz4", "--levels", "15", "--", source],
            "none of the tools makes",
        ),
        (
            &["--compressors", "lzma", "--", source],
            "a compressor is gzip, lzo",
        ),
        (
            &["--levels", "best", "--", source],
            "a level is a whole number",
        ),
        (&["--threads", "0", "--", source], "at least 1"),
    ];
    for (args, rule) in cases {
        let mut bench = command();
        bench
            .current_dir(stage.directory())
            .env("COLDPRESS_HISTORY", "off");
        let ran = run(bench.args(["bench", "build"]).args(args));
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(rule), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, b"", "{args:?}");
    }
}

#[test]
fn a_missing_tool_is_told_and_wrong_only_if_it_was_asked_for() {
    let stage = Stage::new();
    let source = source(stage.directory());
    let empty = stage.at("empty");
    fs::create_dir(&empty).unwrap();
    for (args, code) in [
        (&["--tools", "coldpress,mksquashfs"][..], Some(1)),
        (&["--unpackers", "rdsquashfs,coldpress"], Some(1)),
        (&["--tools", "mksquashfs"], Some(2)),
        (&[], Some(0)),
    ] {
        let mut bench = bench(&stage);
        bench
            .env("PATH", &empty)
            .args(["--block-sizes", "64K", "--runs", "1"]);
        let ran = run(bench.args(args).arg("--").arg(&source));
        assert_eq!(ran.code, code, "{args:?}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("squashfs is not in PATH"),
            "{args:?}: {}",
            ran.stderr
        );
        if code != Some(2) {
            assert!(
                ran.text().contains("coldpress zstd-15 64K j2"),
                "{}",
                ran.text()
            );
        }
    }
}

#[test]
fn a_tool_that_fails_is_named_once_and_counts_nowhere() {
    let stage = Stage::new();
    let source = source(stage.directory());
    let version = "[ \"$1\" = -version ] && echo fake && exit";
    for (script, why) in [
        (
            "echo no such luck >&2; exit 3",
            "mksquashfs failed (exit code 3): no such luck",
        ),
        ("kill -9 $$", "mksquashfs failed (signal 9)"),
        ("exit 0", "mksquashfs was done but made no image"),
    ] {
        let path = fake(&stage, "mksquashfs", &format!("{version}\n{script}"));
        let mut bench = bench(&stage);
        bench
            .env("PATH", path)
            .args(ALONE)
            .args(["--tools", "coldpress,mksquashfs"]);
        let args = ["--samples", "samples.json", "--"];
        let ran = run(bench.args(args).arg(&source));
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert_eq!(ran.stderr.matches(why).count(), 1, "{}", ran.stderr);
        let study = samples(&stage.at("samples.json"));
        let excluded: Vec<_> = study["runs"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|run| !run["excluded"].is_null())
            .collect();
        assert_eq!(
            excluded.len(),
            1,
            "it does not fail again in the second turn"
        );
        assert!(excluded[0]["excluded"].as_str().unwrap().contains(why));
        assert_eq!(study["state"], "done");
    }
}

#[test]
fn a_tool_that_takes_too_long_is_ended_and_named() {
    let stage = Stage::new();
    let source = source(stage.directory());
    let script = "[ \"$1\" = -version ] && echo fake && exit; sleep 60";
    let path = fake(&stage, "mksquashfs", script);
    let mut bench = bench(&stage);
    bench.env("PATH", path);
    bench.args(ALONE).args(["--tools", "coldpress,mksquashfs"]);
    let args = ["--timeout", "3", "--samples", "samples.json", "--"];
    let ran = run(bench.args(args).arg(&source));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let why = "mksquashfs was not done after 3 s, and was ended";
    assert_eq!(ran.stderr.matches(why).count(), 1, "{}", ran.stderr);
    let study = samples(&stage.at("samples.json"));
    assert_eq!(study["facts"]["time_limit"], "3 s");
    assert_eq!(study["state"], "done");
}

#[test]
fn what_was_not_unpacked_does_not_count() {
    let stage = Stage::new();
    let source = source(stage.directory());
    // rdsquashfs ... -p DIR IMAGE
    let script = "[ \"$1\" = --version ] && echo fake && exit
                  while [ \"$1\" != -p ]; do shift; done
                  exec mkdir \"$2\"";
    let path = fake(&stage, "rdsquashfs", script);
    let mut bench = bench(&stage);
    bench.env("PATH", path).args([
        "--tools",
        "coldpress",
        "--unpackers",
        "rdsquashfs",
        "--block-sizes",
        "64K",
    ]);
    let ran = run(bench.args(["--runs", "2", "--"]).arg(&source));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("rdsquashfs was done but unpacked 1 of 47 files"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_full_disk_ends_the_study_and_keeps_its_runs() {
    if skip::without_root() {
        return;
    }
    // Room for no image, and for an image but not for what it holds. gensquashfs takes a full disk
    // for any error.
    for (maker, unpacker, room, compressor) in [
        ("coldpress", "coldpress", "64k", "none"),
        ("mksquashfs", "coldpress", "64k", "none"),
        ("coldpress", "coldpress", "256k", "xz"),
        ("coldpress", "unsquashfs", "256k", "xz"),
        ("coldpress", "rdsquashfs", "256k", "xz"),
    ] {
        let peers = [maker, unpacker]
            .into_iter()
            .filter(|tool| *tool != "coldpress");
        if peers.into_iter().any(skip::without_peer) {
            continue;
        }
        let stage = Stage::new();
        let source = source(stage.directory());
        fs::create_dir(stage.at("work")).unwrap();
        let mount = format!("mount -t tmpfs -o size={room} none work && exec \"$0\" \"$@\"");
        let mut bench = Command::new("unshare");
        bench
            .args(["-m", "sh", "-c", &mount, env!("CARGO_BIN_EXE_coldpress")])
            .args([
                "bench",
                "build",
                "--work-dir",
                "work",
                "--block-sizes",
                "64K",
                "--runs",
                "2",
            ])
            .args([
                "--tools",
                maker,
                "--unpackers",
                unpacker,
                "--compressors",
                compressor,
                "--",
            ])
            .arg(&source)
            .current_dir(stage.directory())
            .env("COLDPRESS_HISTORY", stage.at("history.sqlite"));
        let ran = run(&mut bench);
        let case = format!("{maker} {unpacker} {room}: {}", ran.stderr);
        assert_eq!(ran.code, Some(2), "{case}");
        assert!(
            ran.stderr.contains("the disk of") && ran.stderr.contains("--work-dir"),
            "{case}"
        );
        let mut list = command();
        list.arg("history")
            .env("COLDPRESS_HISTORY", stage.at("history.sqlite"));
        assert!(run(&mut list).text().contains("failed"));
    }
}
