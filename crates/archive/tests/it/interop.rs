//! Other readers take what is written here, what they write is read, and a damaged archive means to
//! them what it meant before it was ordered.
//!
//! `COLDPRESS_ARCHIVES` says how many random archives there are (40).

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use coldpress_archive::{Layout, Settings, Storing, Zip};
use coldpress_testkit::without_peer;
use proptest::strategy::{Strategy, ValueTree as _};
use proptest::test_runner::TestRunner;

use crate::made::{Around, Made, PLAIN, order, read, zip};
use crate::random::{around, entry, settings};

/// What a reader makes of each archive of a directory.
type Digests = BTreeMap<String, String>;

fn ran(command: &mut Command) -> Output {
    let output = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {text}");
    output
}

fn digests(command: &mut Command) -> Digests {
    let text = String::from_utf8(ran(command).stdout).expect("it is text");
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines
        .map(|(name, digest)| (name.to_owned(), digest.to_owned()))
        .collect()
}

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/readers")
        .join(name)
}

/// The readers that are installed, and what each makes of a directory.
fn all_digests(directory: &Path) -> Vec<(&'static str, Digests)> {
    let readers = [
        ("python3", "reader.py"),
        ("java", "Reader.java"),
        ("go", "reader.go"),
    ];
    let installed = readers.into_iter().filter(|(tool, _)| !without_peer(tool));
    let digests = installed.map(|(tool, source)| {
        let mut command = Command::new(tool);
        if tool == "go" {
            command.args(["run"]).env("GOFLAGS", "-mod=mod");
        }
        (tool, digests(command.arg(program(source)).arg(directory)))
    });
    digests.collect()
}

fn archives() -> usize {
    let wanted = env::var("COLDPRESS_ARCHIVES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(40)
}

/// Entries of different names, and what stands around them, so that every reader takes it.
fn random_archive(runner: &mut TestRunner) -> Vec<u8> {
    let entries = proptest::collection::vec(entry(), 1..12);
    let (mut entries, around) = (entries, around())
        .new_tree(runner)
        .expect("a value")
        .current();
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    entries.dedup_by(|one, other| one.name == other.name);
    let names: Vec<_> = entries.iter().map(|entry| entry.name.clone()).collect();
    // A file cannot be a directory as well.
    let is_in = |entry: &Made| {
        names
            .iter()
            .any(|name| entry.name.starts_with(&[name, &b"/"[..]].concat()))
    };
    entries.retain(|entry| !is_in(entry));
    // Java takes no 64-bit sizes where none are needed, and no comments that are not UTF-8.
    for entry in &mut entries {
        entry.is_wide = false;
        entry.comment.iter_mut().for_each(|byte| *byte &= 0x3f);
    }
    let prefix = Vec::new();
    zip(
        &entries,
        &Around {
            prefix,
            gap: Vec::new(),
            ..around
        },
    )
}

#[test]
fn every_reader_finds_the_same_in_every_layout() {
    let stage = tempfile::tempdir().expect("a directory");
    let [old, tail, double, gecko] = ["old", "tail", "double", "gecko"].map(|name| {
        let path = stage.path().join(name);
        fs::create_dir(&path).expect("it is new");
        path
    });
    let mut runner = TestRunner::deterministic();
    for index in 0..archives() {
        let file = random_archive(&mut runner);
        let hot = [3, 1, index % 12];
        let settings = settings().new_tree(&mut runner).expect("a value").current();
        let name = format!("{index:05}.jar");
        fs::write(old.join(&name), &file).expect("it is written");
        for (directory, layout) in [
            (&tail, Layout::Tail),
            (&double, Layout::Double),
            (&gecko, Layout::Gecko),
        ] {
            let new = order(&file, &hot, Settings { layout, ..settings }).expect("it is ordered");
            fs::write(directory.join(&name), new).expect("it is written");
        }
    }
    let expected = all_digests(&old);
    for directory in [&tail, &double, &gecko] {
        for ((tool, expected), (_, found)) in expected.iter().zip(all_digests(directory)) {
            assert!(
                expected
                    .values()
                    .all(|digest| !digest.starts_with("refused")),
                "{expected:?}"
            );
            // Java and Python want the directory at the end.
            if *tool == "go" || directory != &gecko {
                assert_eq!(*expected, found, "{tool} {directory:?}");
            }
        }
    }
    if without_peer("unzip") {
        return;
    }
    for directory in [&tail, &double] {
        for file in fs::read_dir(directory).expect("it is there") {
            let file = file.expect("it is there").path();
            ran(Command::new("unzip").args(["-qq", "-t"]).arg(&file));
        }
    }
}

#[test]
fn damage_means_what_it_meant() {
    let stage = tempfile::tempdir().expect("a directory");
    let [old, new] = ["old", "new"].map(|name| {
        let path = stage.path().join(name);
        fs::create_dir(&path).expect("it is new");
        path
    });
    let mut runner = TestRunner::deterministic();
    let place = (
        proptest::prelude::any::<proptest::sample::Index>(),
        proptest::prelude::any::<u8>(),
    );
    let mut read = 0;
    for index in 0..archives() * 10 {
        let mut file = random_archive(&mut runner);
        let (place, value) = place.new_tree(&mut runner).expect("a value").current();
        let place = place.index(file.len());
        file[place] = value;
        if !matches!(Zip::read(&file), Ok(Some(_))) {
            continue;
        }
        let Ok(ordered) = order(&file, &[2, 0], PLAIN) else {
            continue;
        };
        read += 1;
        let name = format!("{index:05}.jar");
        fs::write(old.join(&name), file).expect("it is written");
        fs::write(new.join(&name), ordered).expect("it is written");
    }
    assert!(read > archives(), "too few are read: {read}");
    for ((tool, expected), (_, found)) in all_digests(&old).into_iter().zip(all_digests(&new)) {
        for (name, expected) in expected
            .iter()
            .filter(|(_, text)| !text.starts_with("refused"))
        {
            assert_eq!(Some(expected), found.get(name), "{tool} {name}");
        }
    }
}

/// What each tool makes of a directory with two files.
#[test]
fn what_other_tools_write_is_read_and_ordered() {
    let stage = tempfile::tempdir().expect("a directory");
    let at = |name: &str| stage.path().join(name);
    fs::create_dir(at("tree")).expect("it is new");
    fs::write(at("tree/a.txt"), "hello, ".repeat(3000)).expect("it is written");
    fs::write(at("tree/b.txt"), "b").expect("it is written");
    let writers: [(&str, &[&str]); 5] = [
        ("zip", &["-q", "-r", "../made.zip", "."]),
        ("zip", &["-q", "-r", "-fz", "-0", "../made.zip", "."]),
        ("jar", &["--create", "--file", "../made.zip", "."]),
        (
            "python3",
            &["-m", "zipfile", "-c", "../made.zip", "a.txt", "b.txt"],
        ),
        ("sh", &["-c", "cat a.txt b.txt | zip -q ../made.zip -"]),
    ];
    for (tool, arguments) in writers {
        if without_peer(tool) || without_peer("zip") {
            continue;
        }
        let _ = fs::remove_file(at("made.zip"));
        ran(Command::new(tool).args(arguments).current_dir(at("tree")));
        let file = fs::read(at("made.zip")).expect("it is there");
        let old = read(&file);
        let last = old.entries.len() - 1;
        for layout in [Layout::Tail, Layout::Double] {
            let settings = Settings {
                layout,
                storing: Storing::Hot,
                ..PLAIN
            };
            let new = order(&file, &[last, 0], settings).expect("it is ordered");
            old.compare(&file, &read(&new), &new)
                .expect("contents are the same");
            fs::write(at("new.zip"), &new).expect("it is written");
            if !without_peer("unzip") {
                ran(Command::new("unzip").args(["-qq", "-t"]).arg(at("new.zip")));
            }
        }
    }
}
