//! Snaps: what the store and snapd demand.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::Value;

use crate::run::{Stage, program};
use crate::skip;

/// What snapd gives mksquashfs for an app (`snap/squashfs/squashfs.go`).
const OF_SNAP_PACK: &str = "-noappend -comp xz -no-fragments -no-progress -all-root -no-xattrs";
const METADATA: &str = "name: hello\nversion: 1\napps:\n  hello: {command: bin/hello world}\n";
/// Smaller snaps are filled up.
const SNAP_MIN_BYTES: u64 = 16_384;

/// A directory that can be packed.
fn stage() -> Stage {
    let stage = Stage::new();
    for directory in ["source/meta", "source/bin"] {
        fs::create_dir_all(stage.at(directory)).unwrap();
    }
    fs::write(stage.at("source/meta/snap.yaml"), METADATA).unwrap();
    let script = "#!/bin/sh\ncat \"$SNAP/data\" > /dev/null\n";
    fs::write(stage.at("source/bin/hello"), script).unwrap();
    let run = fs::Permissions::from_mode(0o755);
    fs::set_permissions(stage.at("source/bin/hello"), run).unwrap();
    let content: Vec<u8> = (0..60_000_u32)
        .flat_map(|it| (it * 7).to_le_bytes())
        .collect();
    fs::write(stage.at("source/data"), content).unwrap();
    stage
}

fn mksquashfs(stage: &Stage, image: &str, options: &str, more: &[&str]) {
    let mut command = Command::new("mksquashfs");
    command.args(["source", image, "-quiet"]);
    command.args(options.split_whitespace()).args(more);
    program(command.current_dir(stage.directory()));
}

/// The exit status of the check, its verdict, and the rules that are not met.
fn judged(stage: &Stage, image: &str) -> (Option<i32>, String, Vec<String>) {
    let ran = stage.run(["-q", "check", image, "--target", "snap-store", "--json"]);
    let judged = &ran.json()["targets"][0];
    let findings = judged["findings"].as_array().unwrap().iter();
    let broken = findings.filter(|finding| finding["verdict"] != "yes");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let broken = broken.map(|it| format!("{} {}", text(&it["verdict"]), text(&it["about"])));
    (ran.code, text(&judged["verdict"]), broken.collect())
}

#[test]
fn what_snap_pack_makes_keeps_every_rule_of_the_store() {
    if skip::without_peer("mksquashfs") {
        return;
    }
    let stage = stage();
    for compressor in ["xz", "lzo"] {
        let options = OF_SNAP_PACK.replace("xz", compressor);
        mksquashfs(&stage, "app.snap", &options, &[]);
        let expected = (Some(0), "yes".to_owned(), vec![]);
        assert_eq!(judged(&stage, "app.snap"), expected, "{compressor}");
    }
    fs::remove_file(stage.at("source/data")).unwrap();
    mksquashfs(&stage, "small.snap", OF_SNAP_PACK, &[]);
    let small = fs::File::options()
        .write(true)
        .open(stage.at("small.snap"))
        .unwrap();
    assert!(small.metadata().unwrap().len() < SNAP_MIN_BYTES);
    for (size_bytes, verdict) in [(SNAP_MIN_BYTES, "yes"), (SNAP_MIN_BYTES + 4096, "no")] {
        small.set_len(size_bytes).unwrap();
        let (code, found, _) = judged(&stage, "small.snap");
        assert_eq!(
            (code, found.as_str()),
            (Some(i32::from(verdict == "no")), verdict)
        );
    }
    let ran = stage.run(["check", "small.snap", "--target", "snap-store"]);
    let text = ran.text();
    assert!(
        text.contains("  snap.yaml           met       hello 1, type app\n"),
        "{text}"
    );
    assert!(
        text.contains("  padding             broken    the file has 20480 bytes"),
        "{text}"
    );
}

/// What is left out of the options of `snap pack`, what is added, a pseudo file, and the rules that
/// are then not met.
const BREAKERS: [(&str, &str, &str, &str); 15] = [
    (
        "-no-fragments",
        "",
        "",
        "no fragments, unknown resquash, unknown deltas",
    ),
    (
        "-comp xz",
        "-comp zstd",
        "",
        "no compressor, unknown resquash, unknown deltas",
    ),
    (
        "",
        "-b 64K",
        "",
        "no block size, no resquash, partly deltas",
    ),
    (
        "",
        "-Xbcj x86",
        "",
        "no compressor options, no resquash, partly deltas",
    ),
    ("", "-nopad", "", "no padding, no resquash, partly deltas"),
    (
        "-all-root",
        "-force-uid 5",
        "",
        "no owners, no resquash, partly deltas",
    ),
    ("", "", "bin/hello m 4755 0 0", "no modes"),
    ("", "", "bin/hello m 644 0 0", "no apps"),
    ("", "", "meta/snap.yaml m 600 0 0", "no meta"),
    ("", "", "null c 666 0 0 1 3", "no file types"),
    ("", "", "out s 777 0 0 /etc/passwd", "no symlinks"),
    ("", "", "up s 777 0 0 bin/../../etc", "no symlinks"),
    ("", "", "own s 777 0 0 /snap/hello/current/data", ""),
    ("", "", "libc.so.6 s 777 0 0 /lib/libc-2.31.so", ""),
    (
        "",
        "",
        "meta/out s 777 0 0 /etc/passwd",
        "no symlinks, no meta",
    ),
];

#[test]
fn each_rule_of_the_store_is_told_from_the_others() {
    // Devices are made again only by root.
    if skip::without_peer("mksquashfs") || skip::without_root() {
        return;
    }
    let stage = stage();
    for (without, with, pseudo, expected) in BREAKERS {
        let options = OF_SNAP_PACK.replacen(without, "", 1) + " " + with;
        let pseudo = ["-p", pseudo];
        let more = if pseudo[1].is_empty() {
            &[]
        } else {
            &pseudo[..]
        };
        mksquashfs(&stage, "app.snap", &options, more);
        let (code, _, found) = judged(&stage, "app.snap");
        assert_eq!(found.join(", "), expected, "{with} {pseudo:?}");
        assert_eq!(
            code,
            Some(i32::from(!expected.is_empty())),
            "{with} {pseudo:?}"
        );
    }
}

#[test]
fn a_base_may_have_what_an_app_may_not() {
    if skip::without_peer("mksquashfs") || skip::without_root() {
        return;
    }
    let stage = stage();
    let options = "-noappend -comp xz -no-fragments -no-progress -force-uid 5 -no-xattrs";
    let more = [
        "-p",
        "null c 666 0 0 1 3",
        "-p",
        "out s 777 0 0 /etc/passwd",
    ];
    let of_app = "no owners, no file types, no symlinks, no resquash, partly deltas";
    for (kind, expected, code) in [
        ("base", "unknown file types, unknown deltas", 0),
        ("app", of_app, 1),
    ] {
        let metadata = format!("{METADATA}type: {kind}\n");
        fs::write(stage.at("source/meta/snap.yaml"), metadata).unwrap();
        mksquashfs(&stage, "app.snap", options, &more);
        let (found_code, _, found) = judged(&stage, "app.snap");
        assert_eq!(
            (found_code, found.join(", ").as_str()),
            (Some(code), expected)
        );
    }
}

#[test]
fn a_target_that_is_no_store_is_judged_as_by_doctor() {
    let stage = stage();
    stage.done(["-q", "build", "source", "image", "-c", "zstd"]);
    for (target, code) in [("openwrt", 1), ("debian-12", 0), ("snap-store", 1)] {
        let checked = stage.run(["-q", "check", "image", "--target", target, "--json"]);
        let doctor = stage.run(["-q", "doctor", "image", "--target", target, "--json"]);
        assert_eq!(
            (checked.code, doctor.code),
            (Some(code), Some(code)),
            "{target}"
        );
        assert_eq!(checked.json()["targets"], doctor.json(), "{target}");
    }
    let ran = stage.run(["check", "image", "--target", "nowhere"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

/// Everything that is listed of an image.
fn listed(stage: &Stage, image: &str) -> String {
    stage.done(["ls", "-lR", image]).text()
}

#[test]
fn a_snap_is_rebuilt_only_for_sideloading() {
    if skip::without_peer("mksquashfs") {
        return;
    }
    let stage = stage();
    fs::remove_file(stage.at("source/data")).unwrap();
    mksquashfs(&stage, "app.snap", OF_SNAP_PACK, &[]);
    fs::write(
        stage.at("plan"),
        "coldpress-plan 1\n[data]\nblocks /bin/hello\n",
    )
    .unwrap();
    let retrofit = ["-q", "retrofit", "app.snap", "-o", "new.snap"];
    let planned = [&retrofit[..], &["--plan", "plan"]].concat();
    let refused = stage.run(&planned);
    assert_eq!(refused.code, Some(2));
    for part in [
        "assertion names its digest",
        "--sideload",
        "coldpress prefetch",
    ] {
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
    assert!(!stage.at("new.snap").exists());
    let ran = stage.run([&planned[..], &["--sideload", "--json"]].concat());
    assert_eq!(ran.code, Some(1), "nothing was started: {}", ran.stderr);
    let dropped = &ran.json()["summary"]["dropped"][0];
    assert!(dropped.as_str().unwrap().contains("the store's assertion"));
    assert_eq!(listed(&stage, "new.snap"), listed(&stage, "app.snap"));
    let size_bytes = fs::metadata(stage.at("new.snap")).unwrap().len();
    assert_eq!(size_bytes, SNAP_MIN_BYTES);
    // Not a snap, and one that says what cannot be true.
    for (metadata, said) in [
        (
            None,
            "no AppImage of type 2, SIF container, live ISO or snap",
        ),
        (Some("name: [A]\nversion: 1\n"), "line 1: `name` is `A`"),
    ] {
        fs::remove_file(stage.at("source/meta/snap.yaml")).unwrap();
        if let Some(metadata) = metadata {
            fs::write(stage.at("source/meta/snap.yaml"), metadata).unwrap();
        }
        mksquashfs(&stage, "app.snap", OF_SNAP_PACK, &[]);
        let ran = stage.run([&planned[..], &["--sideload"]].concat());
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        fs::write(stage.at("source/meta/snap.yaml"), METADATA).unwrap();
    }
}

#[test]
fn a_start_of_an_app_is_recorded_and_both_snaps_are_started() {
    if skip::without_measuring() || skip::without_peer("mksquashfs") {
        return;
    }
    let stage = stage();
    // Before the data where nobody knows which is read.
    fs::write(stage.at("source/a"), vec![1; 300_000]).unwrap();
    mksquashfs(&stage, "app.snap", OF_SNAP_PACK, &[]);
    let args = "-q retrofit app.snap -o new.snap --sideload --runs 1 --json -- hello.hello";
    let ran = stage.done(args.split(' '));
    let summary = &ran.json()["summary"];
    assert_eq!(
        (&summary["proven"], &summary["recorded"]),
        (&true.into(), &true.into())
    );
    assert_eq!(listed(&stage, "new.snap"), listed(&stage, "app.snap"));
    let first = |image: &str| {
        let blocks = stage.done(["stat", "--blocks", image, "/data"]);
        blocks.text().contains("image byte 96 to")
    };
    assert_eq!((first("app.snap"), first("new.snap")), (false, true));
    let (code, _, broken) = judged(&stage, "new.snap");
    assert_eq!(
        (code, broken.join(", ").as_str()),
        (Some(1), "no fragments, unknown resquash, unknown deltas")
    );
}
