//! What updaters transfer, as `diff --delta` tells it.

use std::fs;

use coldpress_testkit::without_peer;

use crate::diff::text;
use crate::run::{Ran, Stage, command};

/// `old` and `new` of a tree in which one file of nine changes.
fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir(stage.at("source")).unwrap();
    for seed in 0..9 {
        let path = stage.at(format!("source/file{seed}"));
        fs::write(path, text(seed, 400_000)).unwrap();
    }
    let build = |image| stage.done(["-q", "build", "source", image, "-b", "64K"]);
    build("old");
    fs::write(stage.at("source/file4"), text(99, 400_000)).unwrap();
    build("new");
    stage
}

#[test]
fn each_updater_has_a_row_with_causes_that_add_up() {
    if ["xdelta3", "zsync", "casync"].into_iter().any(without_peer) {
        return;
    }
    let stage = stage();
    let list = "rauc,zsync,casync,xdelta3,zsync";
    let report = stage.done(["-q", "diff", "old", "new", "--json", "--delta", list]);
    let report = report.json();
    let rows = report["updaters"].as_array().unwrap();
    let names: Vec<_> = rows
        .iter()
        .map(|row| row["updater"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["xdelta3", "zsync", "casync", "rauc"]);
    let sum = |causes: &serde_json::Value| -> u64 {
        let causes = causes.as_object().unwrap();
        causes.values().map(|bytes| bytes.as_u64().unwrap()).sum()
    };
    for row in rows {
        assert_eq!(sum(&row["causes"]), row["bytes"].as_u64().unwrap(), "{row}");
        assert!(
            row["causes"]["content_bytes"].as_u64().unwrap() > 0,
            "{row}"
        );
        assert_eq!(row["is_located"], row["updater"] != "xdelta3");
    }
    let new_bytes = fs::metadata(stage.at("new")).unwrap().len();
    assert_eq!(report["second_bytes"], new_bytes);
    assert_eq!(sum(&report["regions"]), new_bytes);

    let table = stage.done(["diff", "old", "new", "--delta", "rauc"]).text();
    let words = ["updater", "transfers", "content changed", "rauc"];
    assert!(words.iter().all(|word| table.contains(word)), "{table}");
    let left = fs::read_dir(stage.directory()).unwrap().count();
    assert_eq!(left, 3, "something is left behind");
}

#[test]
fn what_is_missing_or_no_image_is_said_before_anything_runs() {
    let stage = stage();
    let ran = |words: &[&str]| {
        let mut command = command();
        command.current_dir(stage.directory()).env("PATH", "");
        Ran::of(command.arg("diff").args(words).output().unwrap())
    };
    let missing = ran(&["old", "new", "--delta", "rauc,casync"]);
    assert_eq!(
        missing.stderr,
        "error: casync needs `casync`, which is not installed: install the package casync\n\n\
         hint: or leave that updater out of --delta\n"
    );
    assert_eq!(missing.code, Some(2));
    let unknown = ran(&["old", "new", "--delta", "rsync"]);
    assert!(
        unknown.stderr.contains("no such updater"),
        "{}",
        unknown.stderr
    );

    fs::write(stage.at("text"), "no image".repeat(99)).unwrap();
    let no_image = ran(&["text", "new", "--delta", "rauc"]);
    assert!(
        no_image
            .stderr
            .starts_with("error: `text` is not a SquashFS"),
        "{}",
        no_image.stderr
    );
    let mut bytes = fs::read(stage.at("old")).unwrap();
    bytes[120..400].fill(0xff);
    fs::write(stage.at("damaged"), bytes).unwrap();
    fs::write(stage.at("source/file0"), "another").unwrap();
    stage.done(["-q", "build", "source", "third", "-b", "64K"]);
    let damaged = ran(&["damaged", "third", "--delta", "rauc"]);
    assert_eq!(damaged.code, Some(2));
    assert!(
        damaged.stderr.contains("coldpress check damaged"),
        "{}",
        damaged.stderr
    );
}
