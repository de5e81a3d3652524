//! What the format, the kernel or the disk cannot hold, and what just fits.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use crate::run::{Ran, Stage};
use crate::skip::without_root;

/// Builds what the definitions say over an image that is there.
fn described(stage: &Stage, definitions: &str) -> Ran {
    fs::write(stage.at("definitions"), definitions).unwrap();
    fs::write(stage.at("image"), "the old one").unwrap();
    stage.run(["-q", "build", "-", "image", "--pseudo-file", "definitions"])
}

fn refused(stage: &Stage, definitions: &str, expected: &str) {
    let ran = described(stage, definitions);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    assert_eq!(fs::read(stage.at("image")).unwrap(), b"the old one");
    let leftovers = fs::read_dir(stage.directory()).unwrap().count();
    assert_eq!(leftovers, 2, "nothing stands beside the old image");
}

fn made(stage: &Stage, definitions: &str) {
    let ran = described(stage, definitions);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    stage.done(["check", "image"]);
}

#[test]
fn owners_over_65535_are_refused() {
    let owners = |count: u32| {
        let mut text = "/ d 755 0 0\n".to_owned();
        for owner in 0..count {
            writeln!(text, "n{owner} i 644 {owner} 0 f").unwrap();
        }
        text
    };
    let stage = Stage::new();
    made(&stage, &owners(65_535));
    refused(
        &stage,
        &owners(65_536),
        "65536 different owners and groups, the format allows 65535",
    );
    refused(&stage, &owners(65_537), "different owners and groups");
}

#[test]
fn names_of_256_bytes_and_targets_of_4095_fit_and_longer_ones_are_refused() {
    let stage = Stage::new();
    let name = |len| format!("/ d 755 0 0\n{} d 755 0 0\n", "n".repeat(len));
    let target = |len| format!("/ d 755 0 0\nlink s 777 0 0 {}\n", "t".repeat(len));
    made(&stage, &name(256));
    refused(&stage, &name(257), "256 bytes");
    made(&stage, &target(4095));
    refused(&stage, &target(4096), "4095 bytes");
}

#[test]
fn a_directory_of_100000_entries_is_stored_and_found() {
    let stage = Stage::new();
    let mut text = "/ d 755 0 0\nmany d 755 0 0\n".to_owned();
    for entry in 0..100_000 {
        writeln!(text, "many/entry-{entry:06} i 644 0 0 f").unwrap();
    }
    made(&stage, &text);
    assert_eq!(
        stage.done(["ls", "image", "/many"]).text().lines().count(),
        100_000
    );
    let last = stage.done(["ls", "image", "/many/entry-099999"]).text();
    assert!(last.contains("entry-099999"), "{last}");
}

#[test]
fn a_disk_without_space_is_named_and_the_old_image_stays() {
    if without_root() {
        return;
    }
    let stage = Stage::new();
    for place in ["source", "small"] {
        fs::create_dir(stage.at(place)).unwrap();
    }
    let bytes: Vec<u8> = (0_u32..500_000)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    fs::write(stage.at("source/file"), bytes).unwrap();
    let script = "mount -t tmpfs -o size=400k tmpfs small || exit 9
                  echo old >small/image
                  \"$BINARY\" build source small/image; status=$?
                  test \"$(cat small/image)\" = old || exit 8
                  test \"$(ls -A small)\" = image || exit 7
                  exit $status";
    let mut build = Command::new("unshare");
    build
        .args(["-m", "sh", "-c", script])
        .current_dir(stage.directory());
    build.env("BINARY", env!("CARGO_BIN_EXE_coldpress"));
    build.env("COLDPRESS_HISTORY", "off");
    let output = build.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("No space left on device"), "{stderr}");
}

#[test]
fn what_cannot_be_opened_is_empty_and_told_or_ends_the_build() {
    if without_root() {
        return;
    }
    let stage = Stage::new();
    fs::create_dir(stage.at("source")).unwrap();
    fs::write(stage.at("source/open"), "content").unwrap();
    fs::write(stage.at("source/shut"), "content of another length").unwrap();
    // Nobody else can read what belongs to root and has mode 0.
    let script = "setfattr -n user.note -v x source/shut && chmod 0 source/shut && chmod 777 .
                  setpriv --reuid 65534 --regid 65534 --clear-groups \"$BINARY\" build source image";
    let build = |more: &str| {
        let mut build = Command::new("sh");
        build
            .args(["-c", &format!("{script} {more}")])
            .current_dir(stage.directory());
        build.env("BINARY", env!("CARGO_BIN_EXE_coldpress"));
        build.env("COLDPRESS_HISTORY", "off");
        let output = build.output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, stderr) = build("--exit-on-error");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(!stage.at("image").exists());
    let (code, stderr) = build("--verify");
    assert_eq!(code, Some(1), "{stderr}");
    for action in ["open", "read an xattr of"] {
        let warning = format!("cannot {action} `source/shut`: Permission denied");
        assert!(stderr.contains(&warning), "{stderr}");
    }
    assert_eq!(stage.done(["cat", "image", "/open"]).text(), "content");
    assert_eq!(stage.done(["cat", "image", "/shut"]).text(), "");
}

/// Runs a script that finds the program as `$BINARY`.
fn sh(stage: &Stage, script: &str) -> (Option<i32>, String) {
    let mut sh = Command::new("sh");
    sh.args(["-c", script]).current_dir(stage.directory());
    sh.env("BINARY", env!("CARGO_BIN_EXE_coldpress"));
    sh.env("COLDPRESS_HISTORY", "off");
    let output = sh.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), stderr)
}

#[test]
fn a_limit_on_the_length_of_files_is_told_and_nothing_is_left() {
    let stage = Stage::new();
    fs::create_dir(stage.at("source")).unwrap();
    let bytes: Vec<u8> = (0_u32..100_000)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    fs::write(stage.at("source/file"), bytes).unwrap();
    stage.done(["-q", "build", "source", "whole"]);
    for (words, code) in [
        ("build source image", 2),
        ("tar whole -o archive", 2),
        ("extract whole out", 2),
        ("mksquashfs source image", 1),
        ("unsquashfs -d out whole", 1),
    ] {
        let (status, stderr) = sh(&stage, &format!("ulimit -f 8; \"$BINARY\" {words}"));
        assert_eq!(status, Some(code), "{words}: {stderr}");
        for part in ["File too large", "`ulimit -f unlimited`"] {
            assert!(stderr.contains(part), "{words}: {stderr}");
        }
        let _ = fs::remove_dir_all(stage.at("out"));
        let left = fs::read_dir(stage.directory()).unwrap().count();
        assert_eq!(left, 2, "{words}");
    }
}

#[test]
fn an_image_of_another_user_in_a_sticky_directory_is_refused_before_the_work() {
    if without_root() {
        return;
    }
    let stage = Stage::new();
    fs::create_dir(stage.at("shared")).unwrap();
    fs::write(stage.at("shared/image"), "the old one").unwrap();
    fs::write(stage.at("shared/own"), "the old one").unwrap();
    // Who begins with the work finds that the archive is empty.
    let script = "chmod 755 . && chmod 1777 shared && chown 65534 shared/own || exit 9
                  nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"; }
                  nobody \"$BINARY\" -q build - shared/image </dev/null && exit 8
                  mkdir empty || exit 7
                  nobody \"$BINARY\" -q build empty shared/own || exit 6
                  \"$BINARY\" -q build empty shared/own || exit 5";
    let (code, stderr) = sh(&stage, script);
    assert_eq!(code, Some(0), "{stderr}");
    let refused = "`shared/image` belongs to user 0, and only that user can replace it";
    assert!(stderr.contains(refused), "{stderr}");
    assert_eq!(fs::read(stage.at("shared/image")).unwrap(), b"the old one");
    assert_eq!(fs::read_dir(stage.at("shared")).unwrap().count(), 2);
}
