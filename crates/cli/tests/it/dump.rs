//! `coldpress dump`: every byte with its name, as text and as JSON, of sound and of damaged images.

use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::Stdio;

use crate::run::{Ran, coldpress, command, done};

struct Stage {
    root: tempfile::TempDir,
}

impl Stage {
    /// An image of a pack file, in which nothing is compressed and nothing depends on the machine.
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let stage = Self { root };
        fs::write(stage.at("content"), b"tail end\n").unwrap();
        let lines =
            "dir /dir 0755 1 2\nfile /dir/file 0644 0 0 content\nslink /link 0777 0 0 dir/file\n";
        fs::write(stage.at("pack"), lines).unwrap();
        let (pack, directory, image) = (stage.at("pack"), stage.at("."), stage.at("image"));
        let args = [
            "-q",
            "build",
            "--store",
            "inodes,ids,data,fragments,xattrs",
            "-c",
            "gzip",
        ];
        let times = ["--image-time", "1000000000", "--inode-time", "1000000000"];
        let mut args: Vec<PathBuf> = args.iter().chain(&times).map(PathBuf::from).collect();
        args.extend(["--pack-file".into(), pack, "--pack-dir".into(), directory]);
        args.extend(["-".into(), image]);
        done(args);
        stage
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn dump(&self, more: &[&str]) -> Ran {
        let args = [PathBuf::from("dump"), self.at("image")];
        coldpress(args.into_iter().chain(more.iter().map(PathBuf::from)))
    }

    fn damage(&self, byte: usize, value: u8) {
        let mut bytes = fs::read(self.at("image")).unwrap();
        bytes[byte] = value;
        fs::write(self.at("image"), bytes).unwrap();
    }
}

#[test]
fn a_dump_is_as_reviewed() {
    let stage = Stage::new();
    let ran = stage.dump(&[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("dump", ran.text());
}

#[test]
fn json_has_one_object_for_each_range_and_no_byte_is_left_out() {
    let stage = Stage::new();
    let text = stage.dump(&["--json"]).text();
    let mut end = 0;
    for line in text.lines() {
        let range: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(range["start"].as_u64(), Some(end), "{line}");
        end += range["len"].as_u64().unwrap();
    }
    assert_eq!(end, fs::metadata(stage.at("image")).unwrap().len());
    let files = stage
        .dump(&["--json", "--part", "inode-table", "dir/file"])
        .text();
    let range: serde_json::Value = serde_json::from_str(&files).unwrap();
    let records = range["records"].as_array().unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["path"], "/dir/file");
    assert_eq!(records[0]["fields"][0]["meaning"], "file");
}

#[test]
fn damage_is_named_and_the_rest_goes_on() {
    let stage = Stage::new();
    // The header of the inode table, which stands behind the tail end of 9 bytes.
    stage.damage(96 + 9 + 1, 0);
    let ran = stage.dump(&[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let text = ran.text();
    for part in [
        "; damaged: metadata block at byte 105",
        "directory-table",
        "id-table: index",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // A superblock that breaks a rule.
    stage.damage(22, 13);
    let ran = stage.dump(&[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.text()
            .contains("damaged: superblock at byte 0: block log is 13"),
        "{ran:?}"
    );
    assert!(ran.text().contains("data-area: not found"), "{ran:?}");
    // No image at all.
    stage.damage(0, 0);
    let ran = stage.dump(&[]);
    assert_eq!((ran.code, ran.text().as_str()), (Some(2), ""), "{ran:?}");
}

#[test]
fn what_is_not_there_cannot_be_dumped() {
    let stage = Stage::new();
    let ran = stage.dump(&["/none"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(
        ran.stderr,
        "error: cannot dump `/none`: the image has no such file\n"
    );
    assert_eq!(stage.dump(&["--part", "nothing"]).code, Some(2));
}

#[test]
fn a_rule_that_no_byte_shows_as_broken_ends_with_1() {
    let stage = Stage::new();
    // More inodes than there are.
    stage.damage(4, 9);
    let check = coldpress(["check".into(), "-q".into(), stage.at("image")]);
    assert_eq!(check.code, Some(1), "{}", check.stderr);
    let ran = stage.dump(&[]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("`coldpress check` shows where"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_reader_that_goes_away_ends_the_dump() {
    let stage = Stage::new();
    let mut child = command()
        .arg("dump")
        .arg(stage.at("image"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn check_tells_notices_from_errors() {
    let stage = Stage::new();
    let check = |more: &[&str]| {
        let args = [PathBuf::from("check"), stage.at("image")];
        coldpress(args.into_iter().chain(more.iter().map(PathBuf::from)))
    };
    // A flag without a meaning.
    stage.damage(25, 0x80);
    let ran = check(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.text()
            .starts_with("notice: superblock at byte 0: flags"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains(": sound; 1 notice; "), "{ran:?}");
    assert_eq!(check(&["--no-notices"]).text(), "");
    let report = check(&["--json"]).json();
    assert_eq!(
        (&report["sound"], &report["notices"]),
        (&true.into(), &1.into())
    );
    let problem = &report["problems"][0];
    assert_eq!(
        (&problem["severity"], &problem["part"]),
        (&"notice".into(), &"superblock".into())
    );
    // All errors at once, also those behind a table that cannot be opened.
    stage.damage(96 + 9 + 2, 99);
    stage.damage(378, 0xff);
    let ran = check(&[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for part in ["id table at byte", "inode type is 99"] {
        assert!(ran.text().contains(part), "{part}: {ran:?}");
    }
}
