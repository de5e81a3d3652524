//! Each wrong use with its exact text and exit status, as a transcript: errors.txt. There `@` is
//! the stage, a directory with the files that [`stage`] makes.

use std::fs::{self, File};
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::run::{coldpress, done};

/// A directory with the files that the cases name.
fn stage() -> tempfile::TempDir {
    let stage = tempfile::tempdir().unwrap();
    let at = |name: &str| stage.path().join(name);
    fs::create_dir(at("source")).unwrap();
    fs::create_dir(at("other")).unwrap();
    fs::write(at("source/file"), "content").unwrap();
    // How well two times compress decides how long the image is, and its length is in a text.
    for path in ["source/file", "source"] {
        File::open(at(path))
            .unwrap()
            .set_modified(UNIX_EPOCH)
            .unwrap();
    }
    fs::write(
        at("text"),
        "this is no image, but long enough for a superblock\n".repeat(4),
    )
    .unwrap();
    fs::write(at("short"), "short").unwrap();
    fs::write(
        at("bad.plan"),
        "coldpress-plan 1\n[data]\nblocks /file\nnonsense\n",
    )
    .unwrap();
    fs::write(
        at("bad.profile"),
        "coldpress-profile 1\n# recordings: 2\nL *3 /file\n",
    )
    .unwrap();
    done([
        Path::new("-q"),
        Path::new("build"),
        &at("source"),
        &at("image"),
    ]);
    let image = fs::read(at("image")).unwrap();
    fs::write(at("cut"), &image[..120]).unwrap();
    stage
}

/// Runs `coldpress ...` and gives the transcript of it.
fn transcript(stage: &Path, line: &str) -> String {
    let root = stage.to_str().unwrap();
    let words = line
        .split(' ')
        .skip(1)
        .map(|word| word.replacen('@', root, 1));
    let ran = coldpress(words);
    assert_eq!(ran.stdout, b"", "{line}");
    format!(
        "$ {line}\n{}[{}]\n",
        ran.stderr.replace(root, "@"),
        ran.code.unwrap()
    )
}

#[test]
fn every_wrong_use_is_told_in_a_sentence() {
    let stage = stage();
    let expected = include_str!("errors.txt");
    let lines = expected.lines().filter_map(|line| line.strip_prefix("$ "));
    let found: Vec<String> = lines.map(|line| transcript(stage.path(), line)).collect();
    let expected: Vec<String> = expected
        .split("\n$ ")
        .map(|case| format!("$ {}", case.trim_start_matches("$ ")))
        .collect();
    assert!(found.len() > 30);
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.trim_end(), expected.trim_end());
    }
}

#[test]
fn a_failed_build_leaves_the_old_image_and_nothing_beside() {
    let stage = stage();
    let old = fs::read(stage.path().join("image")).unwrap();
    let names = |directory: &Path| {
        let mut names: Vec<_> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let before = names(stage.path());
    let text = transcript(stage.path(), "coldpress build @/source @/missing @/image");
    assert!(text.ends_with("[2]\n"), "{text}");
    assert_eq!(fs::read(stage.path().join("image")).unwrap(), old);
    assert_eq!(names(stage.path()), before);
}

#[test]
fn source_date_epoch_must_be_seconds_of_the_format() {
    let stage = stage();
    for (value, legal) in [
        ("0", true),
        ("4294967295", true),
        ("4294967296", false),
        ("x", false),
    ] {
        let mut command = crate::run::command();
        command
            .env("SOURCE_DATE_EPOCH", value)
            .args(["-q", "build"]);
        let output = command
            .arg(stage.path().join("source"))
            .arg(stage.path().join("image"));
        let output = output.output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(if legal { 0 } else { 2 }),
            "{value}"
        );
        let expected = format!(
            "error: SOURCE_DATE_EPOCH is `{value}`, must be seconds since 1970, at most \
             4294967295 (the year 2106)\n"
        );
        let expected = if legal { String::new() } else { expected };
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
    }
}
