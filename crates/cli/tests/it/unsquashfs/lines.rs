//! The command lines of the projects that call unsquashfs, as their sources have them.
//!
//! `IMG` stands for the image and `OUT` for where it goes; `OUT` is there before where the projects
//! make it.

use std::fs;
use std::path::Path;

use super::bench::{assert_same, both, workshop};
use crate::mksquashfs::tools::{Workshop, ran};
use crate::skip;

/// Lines that print.
const PRINTING: [(&str, &str); 8] = [
    ("snapd, Walk", "-no-progress -dest . -ll IMG"),
    (
        "snapd, Walk of a directory",
        "-no-progress -dest . -ll IMG etc",
    ),
    ("snapd, ListDir", "-no-progress -dest _ -l IMG etc"),
    ("snapd, BuildDate", "-n -s -UTC IMG"),
    ("Nerves", "-lln IMG"),
    ("OpenWrt scripts", "-lls IMG etc/conf.d/one"),
    ("firmware scanners", "-llnumeric IMG"),
    ("AppImage tools", "-cat -no-progress IMG etc/conf"),
];

/// Lines that extract, and whether `OUT` is there before.
const EXTRACTING: [(&str, &str, bool); 14] = [
    ("snapd, Unpack", "-n -dest OUT IMG *", false),
    ("snapd, ReadFile", "-n -i -d OUT IMG etc/conf", false),
    (
        "snapd, with little memory",
        "-n -data-queue 16 -frag-queue 16 -dest OUT IMG",
        false,
    ),
    (
        "enroot",
        "-no-progress -processors 2 -user-xattrs -d OUT IMG",
        false,
    ),
    ("Apptainer", "-no-progress -user-xattrs -f -d OUT IMG", true),
    (
        "a SIF without devices",
        "-no-exit-code -ignore-errors -no-progress -p 2 -d OUT -o 0 IMG",
        false,
    ),
    (
        "AppImage tools",
        "-no-progress -no-xattrs -processors 4 -offset 0 -dest OUT IMG",
        false,
    ),
    ("AppImage, in place", "-q -n -f -d OUT IMG", true),
    ("live-build", "-n -dest OUT IMG", false),
    ("live installers", "-n -f -d OUT IMG", true),
    ("Nerves", "-n -f -d OUT IMG", false),
    ("unblob", "-n -no-exit-code -f -d OUT IMG", true),
    ("a made directory", "-n -user-xattrs -d OUT IMG", true),
    ("update files", "-n -f -d OUT IMG usr/lib/lib.so", false),
];

fn words(line: &str, out: &'static str) -> Vec<&'static str> {
    let line: &'static str = line.to_owned().leak();
    let words = line.split_whitespace();
    words
        .map(|word| match word {
            "IMG" => "image",
            "OUT" => out,
            word => word,
        })
        .collect()
}

#[test]
fn lines_that_print_print_the_same() {
    if skip::without_peer("unsquashfs") {
        return;
    }
    let workshop = workshop();
    for (project, line) in PRINTING {
        let words = words(line, "out");
        let (ours, mut theirs) = both(&workshop, "unsquashfs", &words, "UTC");
        // 4.5.1 has other words for the flag of tail ends.
        let text = String::from_utf8_lossy(&theirs.stdout).replace(
            "Always-use-fragments option is not specified",
            "Tailends are not packed into fragments",
        );
        theirs.stdout = text.into_bytes();
        assert_same(&(project, words), &(ours, theirs));
    }
}

#[test]
fn lines_that_extract_restore_the_same() {
    if skip::without_peer("unsquashfs") {
        return;
    }
    let workshop = workshop();
    for (project, line, is_there) in EXTRACTING {
        for out in ["ours", "theirs"] {
            if is_there {
                fs::create_dir(workshop.at(out)).unwrap();
            }
        }
        let ours = ran(workshop.command("unsquashfs").args(words(line, "ours")));
        let theirs = ran(workshop.peer("unsquashfs").args(words(line, "theirs")));
        assert_eq!(ours.code, theirs.code, "{project}: {}", ours.stderr);
        let printed = theirs.text().replace("theirs", "ours");
        assert_eq!(ours.text(), printed, "{project}");
        let [found, expected] = ["ours", "theirs"].map(|out| state(&workshop, out));
        assert_eq!(found, expected, "{project}");
        for out in ["ours", "theirs"] {
            fs::remove_dir_all(workshop.at(out)).unwrap();
        }
    }
}

/// Everything in a directory with type, mode, owner, time, links, attributes and content, but
/// whether files have holes: 4.5.1 writes the zeros of small files.
pub(super) fn state(workshop: &Workshop, directory: &str) -> String {
    let image = format!("{directory}.state");
    let line = format!("{directory} {image} -quiet -mkfs-time 0 -noappend");
    workshop.done("mksquashfs", &line);
    let text = workshop.done("unsquashfs", &format!("-pf - {image}"));
    fs::remove_file(workshop.at(Path::new(&image))).unwrap();
    let text = String::from_utf8_lossy(&text.stdout);
    let lines = text.lines().map(|line| {
        let is_file = line.contains(" R ");
        let line = line.strip_suffix(" 1").filter(|_| is_file).unwrap_or(line);
        line.strip_suffix(" 0").filter(|_| is_file).unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}
