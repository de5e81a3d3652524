//! Whatever `build` writes, every verb reads.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::Path;
use std::process::Command;

use crate::run::{Stage, program};
use crate::skip::without_root;

/// A hole of 256 MiB, whose block list is 256 KiB with blocks of 4 KiB, and 300 more names of it:
/// their lists would be 75 MiB.
fn one_file_of_many_names(root: &Path) {
    File::create(root.join("f"))
        .and_then(|file| file.set_len(256 << 20))
        .unwrap();
    for number in 0..300 {
        fs::hard_link(root.join("f"), root.join(format!("f{number}"))).unwrap();
    }
}

/// Snapshots of a tree, as rsnapshot makes them: what did not change are hard links.
fn snapshots(root: &Path) {
    let first = root.join("0");
    fs::create_dir(&first).unwrap();
    for (name, len) in [("large", 96 << 20), ("other", 64 << 20)] {
        let file = File::create(first.join(name)).unwrap();
        file.set_len(len).unwrap();
        file.write_all_at(name.as_bytes(), len / 2).unwrap();
    }
    fs::write(first.join("small"), "small\n").unwrap();
    symlink("a/".repeat(600), first.join("link")).unwrap();
    for number in 1..400 {
        let directory = root.join(number.to_string());
        fs::create_dir(&directory).unwrap();
        for name in ["large", "other", "small", "link"] {
            fs::hard_link(first.join(name), directory.join(name)).unwrap();
        }
    }
}

/// Files of all kinds and sizes around the size of a block, and names that programs stumble over.
fn odds(root: &Path) {
    fs::create_dir_all(root.join("void/void/void")).unwrap();
    for len in [0, 1, 4095, 4096, 4097, 300_000] {
        let bytes: Vec<u8> = (0..len).map(|at: u32| (at % 251) as u8).collect();
        fs::write(root.join(format!("{len}")), bytes).unwrap();
    }
    for name in ["a b", "-n", "*", "\\", "tab\there", "#"] {
        fs::write(root.join(name), name).unwrap();
    }
    symlink("nowhere", root.join("dangling")).unwrap();
    symlink(".", root.join("circle")).unwrap();
}

/// Extracted trees have the content, the links and the modes of the source.
fn assert_same(stage: &Stage, extracted: &str, context: &str) {
    let listed = |tree: &str| {
        let print = "%P|%y|%m|%n|%s|%T@|%l\\0";
        let mut find = Command::new("find");
        find.args([tree, "-printf", print])
            .current_dir(stage.directory());
        let text = program(&mut find).stdout;
        let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        lines.sort();
        lines
    };
    assert!(listed("source") == listed(extracted), "{context}");
}

fn every_verb_reads(make: fn(&Path), build_options: &[&str]) {
    let stage = Stage::new();
    fs::create_dir(stage.at("source")).unwrap();
    make(&stage.at("source"));
    // Whole seconds, which is what an image holds.
    program(
        Command::new("sh")
            .args([
                "-c",
                "find source -depth -exec touch -h -d @1000000000 {} +",
            ])
            .current_dir(stage.directory()),
    );
    let build = ["-q", "build", "--verify", "source", "image"];
    stage.done(build.iter().chain(build_options));
    for line in [
        "-q check image",
        "ls -lR image",
        "ls -R --json image",
        "tree image",
        "find image",
        "find image --links +1 --json",
        "stat image /",
        "info image",
        "info --json image",
        "dump image",
        "diff image image",
        "diff image source",
        "identify image",
        "-q tar image -o archive",
        "-q extract image extracted",
        "-q build image again",
        "diff again source",
        "-q build archive of-archive",
        "diff of-archive source",
        "-q build source reused --reuse image",
        "unsquashfs -s image",
        "unsquashfs -lls image",
        "unsquashfs -n -q -d squashfs-root image",
        "unsquashfs -pf definitions image",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = stage.run(&words);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
    }
    assert_same(&stage, "extracted", "extract");
    assert_same(&stage, "squashfs-root", "unsquashfs");
}

#[test]
fn a_file_of_many_names_and_a_long_block_list() {
    if !without_root() {
        every_verb_reads(one_file_of_many_names, &["-b", "4K"]);
    }
}

#[test]
fn hard_linked_snapshots() {
    if !without_root() {
        every_verb_reads(snapshots, &["-b", "4K", "-c", "gzip", "-l", "1"]);
    }
}

#[test]
fn odd_files_with_each_packing() {
    if without_root() {
        return;
    }
    for options in [
        &["-b", "4K", "--tails", "all"][..],
        &["-b", "1M", "-c", "none"],
        &[
            "-b",
            "128K",
            "--tails",
            "none",
            "--no-export",
            "--no-duplicates",
        ],
    ] {
        every_verb_reads(odds, options);
    }
}
