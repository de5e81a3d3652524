//! What `doctor` says, held against what this kernel does.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use coldpress_host::{Trial, try_image};
use serde_json::Value;

use crate::run::{Stage, coldpress, command, done};
use crate::skip;

const COMPRESSORS: [&str; 5] = ["gzip", "lzo", "lz4", "xz", "zstd"];
const NOBODY: u32 = 65_534;

/// A directory with a source.
fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir(stage.at("source")).unwrap();
    let text = "a line that compresses\n".repeat(20_000);
    fs::write(stage.at("source/file"), text).unwrap();
    stage
}

fn build(stage: &Stage, image: &str, flags: &[&str]) {
    stage.done([&["-q", "build", "source", image], flags].concat());
}

/// The only verdict of a run.
fn judged(stage: &Stage, args: &[&str]) -> (Option<i32>, Value) {
    let ran = stage.run([&["doctor", "--json"], args].concat());
    let json: Value = ran.json();
    let judged = json.as_array().unwrap();
    assert_eq!(judged.len(), 1, "{json}");
    (ran.code, judged[0].clone())
}

/// What stands against it.
fn abouts(judged: &Value) -> Vec<&str> {
    let findings = judged["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|finding| finding["about"].as_str().unwrap())
        .collect()
}

#[test]
fn the_configuration_says_what_trials_find() {
    if skip::without_root() || skip::without_kernel() || !Path::new("/proc/config.gz").exists() {
        return;
    }
    let read = done(["doctor", "--json"]).json();
    let tried = done(["doctor", "--json", "--try"]).json();
    assert_ne!(read[0]["source"], tried[0]["source"]);
    for ability in ["squashfs", "compressors", "xz_filters", "page_bytes"] {
        assert_eq!(read[0][ability], tried[0][ability], "{ability}");
    }
}

#[test]
fn this_kernel_mounts_what_doctor_says_it_does() {
    if skip::without_root() || skip::without_kernel() {
        return;
    }
    let stage = stage();
    let content = fs::read(stage.at("source/file")).unwrap();
    let mut images: Vec<(String, Vec<&str>)> = COMPRESSORS
        .iter()
        .map(|name| ((*name).to_owned(), vec!["-c", name, "-b", "64K"]))
        .collect();
    images.push((
        "filtered".to_owned(),
        vec!["-c", "xz", "--xz-filters", "x86"],
    ));
    images.push(("large".to_owned(), vec!["-c", "xz", "-b", "1M"]));
    for (name, flags) in images {
        build(&stage, &name, &flags);
        let (code, judged) = judged(&stage, &[&name]);
        let bytes = fs::read(stage.at(&name)).unwrap();
        let mounts = try_image(&bytes, "file").unwrap() == Trial::Read(content.clone());
        assert_eq!(judged["verdict"] == "yes", mounts, "{name}: {judged}");
        assert_eq!(code, Some(i32::from(!mounts)), "{name}");
    }
}

#[test]
fn an_image_that_a_loop_device_cuts_is_refused_with_the_command_that_helps() {
    let stage = stage();
    build(&stage, "image", &["-c", "gzip", "--no-padding"]);
    let bytes = fs::metadata(stage.at("image")).unwrap().len();
    assert_ne!(bytes % 512, 0);
    let (code, judged) = judged(&stage, &["image", "--target", "debian-12"]);
    assert_eq!((code, abouts(&judged)), (Some(1), vec!["padding"]));
    assert_eq!(judged["command"], "coldpress build image OUT");
    if skip::without_root() || skip::without_kernel() {
        return;
    }
    let image = fs::read(stage.at("image")).unwrap();
    assert!(try_image(&image, "file").is_err());
}

/// Runs the command of a verdict in a shell, as a user would.
fn obey(stage: &Stage, line: &str) {
    let binary = Path::new(env!("CARGO_BIN_EXE_coldpress"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let mut shell = Command::new("bash");
    shell.args(["-c", line]).env("PATH", path);
    shell.env("COLDPRESS_HISTORY", "off");
    let output = shell.current_dir(stage.directory()).output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
}

#[test]
fn the_command_makes_an_image_that_the_target_reads() {
    let stage = stage();
    fs::create_dir(stage.at("source/meta")).unwrap();
    let metadata = "name: hello\nversion: 1\n";
    fs::write(stage.at("source/meta/snap.yaml"), metadata).unwrap();
    build(
        &stage,
        "two words",
        &["-c", "zstd", "-b", "1M", "--all-root"],
    );
    // Inside another file as well.
    let image = fs::read(stage.at("two words")).unwrap();
    fs::write(stage.at("app"), [&[7; 5000][..], &image].concat()).unwrap();
    for (target, args) in [
        ("openwrt", &["two words"][..]),
        ("enroot", &["two words"]),
        ("snap-store", &["two words"]),
        ("openwrt", &["app", "--offset", "auto"]),
        ("openwrt", &["app", "--offset", "5000"]),
    ] {
        let (code, before) = judged(&stage, &[args, &["--target", target]].concat());
        let refused = before["verdict"] == "no";
        assert_eq!(code, Some(i32::from(refused)), "{before}");
        let line = before["command"].as_str().unwrap();
        obey(&stage, line);
        let (code, after) = judged(&stage, &["OUT", "--target", target]);
        // The store compares every byte with what mksquashfs makes.
        let expected = if target == "snap-store" {
            "unknown"
        } else {
            "yes"
        };
        assert_eq!(
            (code, after["verdict"].as_str()),
            (Some(0), Some(expected)),
            "{after}"
        );
        fs::remove_file(stage.at("OUT")).unwrap();
        let _ = fs::remove_dir_all(stage.at("TREE"));
    }
}

#[test]
fn a_configuration_is_a_target() {
    let stage = stage();
    let config = "CONFIG_ARM64_64K_PAGES=y\nCONFIG_SQUASHFS=y\nCONFIG_SQUASHFS_ZLIB=y\n";
    fs::write(stage.at("config"), config).unwrap();
    build(&stage, "small-blocks", &["-c", "gzip", "-b", "4K"]);
    let (code, found) = judged(&stage, &["small-blocks", "-t", "config"]);
    assert_eq!((code, abouts(&found)), (Some(1), vec!["block size"]));
    assert_eq!(
        found["command"],
        "coldpress build small-blocks OUT -c gzip -b 65536"
    );
    build(&stage, "xz", &["-c", "xz"]);
    let (code, found) = judged(&stage, &["xz", "-t", "config"]);
    assert_eq!((code, abouts(&found)), (Some(1), vec!["compressor"]));
    assert_eq!(found["command"], "coldpress build xz OUT -c gzip");
}

#[test]
fn what_is_not_known_is_not_said_to_be_fine() {
    let stage = stage();
    build(&stage, "image", &["-c", "lz4"]);
    let (code, judged) = judged(&stage, &["image", "-t", "ubuntu-22.04"]);
    assert_eq!(
        (code, judged["verdict"].as_str()),
        (Some(0), Some("unknown"))
    );
    assert_eq!(judged["command"], "coldpress build image OUT -c xz");
}

#[test]
fn damage_is_a_reason_and_what_is_no_image_is_an_error() {
    let stage = stage();
    build(&stage, "image", &[]);
    let image = fs::read(stage.at("image")).unwrap();
    fs::write(stage.at("cut"), &image[..200]).unwrap();
    let (code, judged) = judged(&stage, &["cut", "-t", "debian-12"]);
    assert_eq!((code, abouts(&judged)), (Some(1), vec!["image"]));
    assert_eq!(judged["command"], Value::Null);
    fs::write(stage.at("text"), "no image").unwrap();
    for args in [
        &["text"][..],
        &["missing"],
        &["image", "-t", "nowhere"],
        &["image", "-t", "text"],
        &["image", "-t", ""],
    ] {
        let ran = stage.run([&["doctor"], args].concat());
        assert_eq!((ran.code, ran.text().as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
}

#[test]
fn targets_are_listed_with_their_sources() {
    let list = done(["doctor", "--target", "list", "--json"]).json();
    let names: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str())
        .collect();
    for name in ["openwrt", "snap-store", "ubuntu-24.04", "appimage"] {
        assert!(names.contains(&Some(name)), "{names:?}");
    }
    let text = done(["doctor", "--target", "list"]).text();
    assert_eq!(text.matches("known from").count(), names.len());
}

#[test]
fn who_may_not_mount_still_gets_an_answer() {
    if skip::without_root() {
        return;
    }
    let stage = stage();
    fs::set_permissions(stage.directory(), fs::Permissions::from_mode(0o755)).unwrap();
    build(&stage, "image", &["-c", "gzip"]);
    let as_nobody = |args: &[&str]| {
        let mut command = command();
        command
            .args(args)
            .current_dir(stage.directory())
            .uid(NOBODY);
        command.output().unwrap()
    };
    let output = as_nobody(&["doctor", "image", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = as_nobody(&["doctor", "--try"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("root") || said.contains("/dev/loop"),
        "{said}"
    );
    assert_eq!(coldpress(["doctor"]).code, Some(0));
}
