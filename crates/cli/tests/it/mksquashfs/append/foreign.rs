//! Images that others made, of all kinds, and those that cannot be appended to.

use std::fs;
use std::path::Path;

use super::super::tools::ran;
use super::{superblock, unpacked, workshop};
use crate::run::done;
use crate::skip;

#[test]
fn images_of_every_kind_are_continued_as_they_are() {
    if skip::without_peer("unsquashfs") || skip::without_peer("mksquashfs") {
        return;
    }
    let workshop = workshop();
    for options in [
        "-comp gzip -Xcompression-level 3 -Xwindow-size 9 -Xstrategy fixed",
        "-comp lzo -Xalgorithm lzo1x_1",
        "-comp lz4",
        "-comp lz4 -Xhc -b 1M",
        "-comp xz -Xbcj x86,arm -Xdict-size 50%",
        "-comp zstd -Xcompression-level 3 -b 4K",
        "-noI -noD -noF -noX",
        "-no-xattrs -no-exports -no-duplicates",
        "-nopad -noId -tailends",
    ] {
        let command = |program: &str, words: &str| {
            let mut command = if program == "ours" {
                workshop.command("mksquashfs")
            } else {
                workshop.peer("mksquashfs")
            };
            let ran = ran(command.args(words.split_whitespace()));
            assert_eq!(ran.code, Some(0), "{options}: {}", ran.stderr);
        };
        let fixed = "-quiet -no-progress -all-time 1 -mkfs-time 1 -no-recovery";
        command("theirs", &format!("SRC theirs {options} {fixed} -noappend"));
        fs::copy(workshop.at("theirs"), workshop.at("ours")).unwrap();
        let old = superblock(&workshop.at("ours"));
        for program in ["theirs", "ours"] {
            command(program, &format!("other SRC {program} {fixed}"));
        }
        let new = superblock(&workshop.at("ours"));
        assert_eq!(
            (new.flags, new.compressor, new.block_size),
            (old.flags, old.compressor, old.block_size),
            "{options}"
        );
        let theirs = unpacked(&workshop, "theirs");
        theirs.demand(&unpacked(&workshop, "ours"), options);
        // And back: mksquashfs appends to what was appended to here.
        for program in ["ours", "theirs"] {
            command("theirs", &format!("more {program} {fixed}"));
        }
        let theirs = unpacked(&workshop, "theirs");
        theirs.demand(&unpacked(&workshop, "ours"), options);
    }
}

#[test]
fn an_image_behind_a_program_is_appended_to_at_its_byte() {
    let workshop = workshop();
    workshop.done("mksquashfs", "SRC out -offset 777 -quiet");
    let program = vec![7; 777];
    let mut bytes = fs::read(workshop.at("out")).unwrap();
    bytes[..777].copy_from_slice(&program);
    fs::write(workshop.at("out"), bytes).unwrap();
    let refused = workshop.run("mksquashfs", "other out -quiet");
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    workshop.done(
        "mksquashfs",
        "other out -offset 777 -quiet -root-becomes old",
    );
    let after = fs::read(workshop.at("out")).unwrap();
    assert_eq!(after[..777], program);
    let words = ["ls", "--offset", "777"].map(Path::new);
    let names = done([&words[..], &[&workshop.at("out")]].concat()).text();
    assert_eq!(names, "bin\nempty\nold\nsame\n");
    assert!((after.len() - 777).is_multiple_of(4096));
}

#[test]
fn what_cannot_be_appended_to_is_refused_by_name_and_left_as_it_is() {
    let workshop = workshop();
    workshop.done("mksquashfs", "SRC image -quiet");
    let image = fs::read(workshop.at("image")).unwrap();
    let changed = |at: usize, bytes: &[u8]| {
        let mut changed = image.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    for (bytes, reason) in [
        (vec![], "no SquashFS image begins at byte 0 of it"),
        (
            b"#!/bin/sh\n".repeat(20),
            "no SquashFS image begins at byte 0 of it",
        ),
        (
            changed(0, b"sqsh"),
            "it is a big-endian image of an old version of SquashFS, not of 4.0",
        ),
        (changed(28, &[3, 0, 1, 0]), "it is SquashFS 3.1, not 4.0"),
        (image[..2000].to_vec(), "superblock at byte 0:"),
        (changed(20, &[2, 0]), "lzma"),
    ] {
        fs::write(workshop.at("out"), &bytes).unwrap();
        let refused = workshop.run("mksquashfs", "other out");
        assert_eq!(refused.code, Some(1), "{reason}");
        let said = &refused.stderr;
        assert!(said.contains(reason), "{reason}: {said}");
        assert!(
            said.ends_with("hint: add -noappend to replace it\n"),
            "{said}"
        );
        assert_eq!(fs::read(workshop.at("out")).unwrap(), bytes, "{reason}");
    }
    let refused = workshop.run("mksquashfs", "other SRC");
    let expected = "error: `SRC` cannot be appended to: it is not a regular file\n\n\
                    hint: add -noappend to replace it\n";
    assert_eq!(refused.stderr, expected);
}
