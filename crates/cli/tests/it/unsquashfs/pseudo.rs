//! Pseudo definitions with data.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::{XattrFlags, lsetxattr};

use super::bench::workshop;
use crate::mksquashfs::tools::{Workshop, input, ran};
use crate::skip;

/// A small tree of which 4.7.5 writes the text below, but for the owner.
fn small() -> Workshop {
    let workshop = Workshop::new();
    let root = workshop.at("tree");
    fs::create_dir_all(root.join("a/b")).unwrap();
    for (name, content) in [
        ("a/one", "first\n"),
        ("a/b/two", "second\n"),
        ("with space", "third\n"),
    ] {
        fs::write(root.join(name), content).unwrap();
    }
    fs::hard_link(root.join("a/one"), root.join("hard")).unwrap();
    symlink("a/one", root.join("link")).unwrap();
    let line = "tree image -quiet -all-root -all-time 7 -root-mode 755 -force-file-mode 644 \
                -force-dir-mode 755 -no-xattrs";
    workshop.done("mksquashfs", line);
    workshop
}

const DUMP: &str = "/ D 7 755 0 0
a D 7 755 0 0
a/b D 7 755 0 0
a/b/two R 7 644 0 0 7 0 0
a/one R 7 644 0 0 6 7 0
hard L a/one
link S 7 644 0 0 a/one
with\\ space R 7 644 0 0 6 13 0
#
# START OF DATA - DO NOT MODIFY
#
second
first
third
";

#[test]
fn definitions_are_those_of_4_7() {
    let workshop = small();
    let text = workshop.done("unsquashfs", "-pf - image").text();
    assert_eq!(text, DUMP);
    workshop.done("unsquashfs", "-pseudo-file dump image");
    assert_eq!(fs::read_to_string(workshop.at("dump")).unwrap(), DUMP);
    let part = workshop.done("unsquashfs", "-pf - image a/b hard").text();
    let expected = "/ D 7 755 0 0\na D 7 755 0 0\na/b D 7 755 0 0\na/b/two R 7 644 0 0 7 0 0\n\
                    hard R 7 644 0 0 6 7 0\n#\n# START OF DATA - DO NOT MODIFY\n#\nsecond\nfirst\n";
    assert_eq!(part, expected);
}

#[test]
fn an_image_is_written_again_from_its_definitions() {
    let workshop = workshop();
    workshop.done("unsquashfs", "-pf dump image");
    workshop.done(
        "mksquashfs",
        "- again -pf dump -quiet -mkfs-time 1600000000",
    );
    let [old, new] = ["image", "again"].map(|image| fs::read(workshop.at(image)).unwrap());
    assert!(old == new, "the images differ");
    // Through a pipe, as with `unsquashfs -pf - | mksquashfs - again -pf -`.
    let mut command = workshop.command("mksquashfs");
    command.args([
        "-",
        "piped",
        "-pf",
        "-",
        "-quiet",
        "-mkfs-time",
        "1600000000",
    ]);
    command.stdin(input(workshop.at("dump")));
    assert_eq!(ran(&mut command).code, Some(0));
    assert!(
        fs::read(workshop.at("piped")).unwrap() == old,
        "the images differ"
    );
}

#[test]
fn mksquashfs_reads_the_definitions() {
    if skip::without_peer("mksquashfs") || skip::without_peer("unsquashfs") {
        return;
    }
    let workshop = workshop();
    // 4.5.1 knows neither extended attributes nor hard links there.
    workshop.done(
        "unsquashfs",
        "-pf dump -no-xattrs -excludes image bin/linked",
    );
    let dump = fs::read(workshop.at("dump")).unwrap();
    fs::write(workshop.at("dump"), without_holes(&dump)).unwrap();
    let mut command = workshop.peer("mksquashfs");
    let ran = ran(command.args(["-", "again", "-pf", "dump", "-quiet", "-no-progress"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    workshop.done("mksquashfs", "tree part -quiet -wildcards -e bin/linked");
    assert_eq!(workshop.listing("again", 0), workshop.listing("part", 0));
}

/// A dump without the number that tells whether a file has holes, which 4.5.1 does not know.
fn without_holes(dump: &[u8]) -> Vec<u8> {
    let marker = b"#\n# START";
    let data = dump
        .windows(marker.len())
        .position(|window| window == marker);
    let (definitions, data) = dump.split_at(data.unwrap());
    let definitions = std::str::from_utf8(definitions).unwrap();
    let mut text = String::new();
    for line in definitions.lines() {
        let end = if line.contains(" R ") {
            line.len() - 2
        } else {
            line.len()
        };
        text.extend([&line[..end], "\n"]);
    }
    [text.as_bytes(), data].concat()
}

#[test]
fn what_no_definition_can_hold_is_left_out() {
    let workshop = Workshop::new();
    let root = workshop.at("tree");
    fs::create_dir_all(root.join("new\nline/below")).unwrap();
    fs::write(root.join("#hash"), "x").unwrap();
    symlink(" space", root.join("link")).unwrap();
    let file = root.join("#hash");
    let has_xattrs = lsetxattr(&file, "user.a", b"0x41", XattrFlags::empty()).is_ok();
    workshop.done("mksquashfs", "tree image -quiet -all-time 7");
    let ran = workshop.run("unsquashfs", "-pf dump image");
    assert_eq!(ran.code, Some(2));
    for warning in [
        "`/link` cannot be a definition: its target begins with white space",
        "`/new\\x0aline` cannot be a definition: its name holds a line break; it is left out",
    ] {
        assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    }
    assert_eq!(
        workshop.run("unsquashfs", "-no-exit -pf dump image").code,
        Some(0)
    );
    assert_eq!(
        workshop
            .run("unsquashfs", "-strict-errors -pf new image")
            .code,
        Some(1)
    );
    assert!(!workshop.at("new").exists());
    workshop.done("mksquashfs", "- again -pf dump -quiet");
    let list = workshop.done("unsquashfs", "-lc again").text();
    assert_eq!(list, "squashfs-root/#hash\n");
    if has_xattrs {
        let again = workshop.done("unsquashfs", "-pf - again").text();
        assert!(again.contains("\n\\#hash x user.a=0t0x41\n"), "{again}");
    }
}
