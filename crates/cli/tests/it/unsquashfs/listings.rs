//! What is printed of names, superblocks and contents.

use std::fs;
use std::os::unix::fs::symlink;

use super::bench::{assert_same, both, workshop};
use crate::mksquashfs::tools::{Workshop, ran};
use crate::skip;

/// Zones to the east and the west of UTC, one of them with summer time.
const ZONES: [&str; 3] = ["UTC", "CET-1CEST,M3.5.0,M10.5.0/3", "EST5"];

#[test]
fn listings_are_those_of_unsquashfs() {
    if skip::without_peer("unsquashfs") {
        return;
    }
    let workshop = workshop();
    workshop.file("take", "# a comment\nbin\n  etc/conf*\n\\empty\n");
    workshop.file("leave", "usr/lib/*.so\nbin/app\n");
    for line in [
        "-ls image",
        "-l image",
        "-lls image",
        "-ll image",
        "-lln image",
        "-llnumeric image",
        "-lls -UTC image",
        "-lc image",
        "-llc image",
        "-ls -llc image",
        "-ls -d there image",
        "-ll -dest . image",
        "-ls -max-depth 0 image",
        "-ls -max-depth 1 image",
        "-lc -max 2 image",
        "-ls image bin",
        "-ls image bin etc/conf.d/one",
        "-ls image usr/lib*",
        "-ls image usr/lib/*.[sx]o",
        "-ls image usr/lib/!(*.so)",
        "-ls -no-wild image */lib",
        "-ls -regex image ^b i",
        "-ls -no-progress -q image empty",
        "-ls -e take image",
        "-ls -ef take image dangling",
        "-ls -excf leave image",
        "-ls -excludes image bin usr/lib/lib.a",
        "-ls -ex bin etc/* ... *.so ; image",
        "-ls -ex ... lib/lib.a ; image usr",
        "-ls -excludes -r image ^[bu]",
        "-mkfs-time image",
        "-fstime -s image",
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        for zone in ZONES {
            assert_same(&words, &both(&workshop, "unsquashfs", &words, zone));
        }
    }
}

#[test]
fn names_are_listed_as_they_are() {
    if skip::without_peer("unsquashfs") {
        return;
    }
    let workshop = Workshop::new();
    fs::create_dir(workshop.at("tree")).unwrap();
    for name in [
        &b"new\nline"[..],
        b"\xff\xfe",
        b"\x1b[31mred",
        b"back\\slash",
    ] {
        use std::os::unix::ffi::OsStrExt as _;
        let name = std::ffi::OsStr::from_bytes(name);
        fs::write(workshop.at("tree").join(name), "").unwrap();
    }
    workshop.done("mksquashfs", "tree image -quiet");
    for words in [["-ls", "image"], ["-ll", "image"]] {
        assert_same(&words, &both(&workshop, "unsquashfs", &words, "UTC"));
    }
}

#[test]
fn patterns_are_matched_with_whole_paths_as_in_4_7() {
    // 4.5.1 lists every directory that the first component matches.
    let workshop = workshop();
    for (paths, expected) in [
        ("*/lib/*.a", "squashfs-root/usr/lib/lib.a\n"),
        (
            "*/conf ?sr/*/*.so",
            "squashfs-root/etc/conf\nsquashfs-root/usr/lib/lib.so\n",
        ),
        ("bin/nothing", ""),
        ("-no-wild", ""),
    ] {
        let text = workshop
            .done("unsquashfs", &format!("-lc image {paths}"))
            .text();
        assert_eq!(text, expected, "{paths}");
    }
}

#[test]
fn times_have_seconds_on_request() {
    let workshop = Workshop::new();
    fs::create_dir(workshop.at("tree")).unwrap();
    workshop.done(
        "mksquashfs",
        "tree image -quiet -all-root -root-mode 755 -all-time 1580702706",
    );
    for words in [
        "-full-precision -lln -UTC image",
        "-llnumeric -full -UTC image",
    ] {
        let text = workshop.done("unsquashfs", words).text();
        let expected = "drwxr-xr-x 0/0                       3 2020-02-03 04:05:06 squashfs-root\n";
        assert_eq!(text, expected, "{words}");
    }
}

#[test]
fn superblocks_are_described_as_unsquashfs_describes_them() {
    if skip::without_peer("unsquashfs") {
        return;
    }
    let workshop = workshop();
    for options in [
        "-comp gzip -Xcompression-level 3 -Xwindow-size 10 -Xstrategy huffman_only,filtered",
        "-comp gzip -noI -noD -noF -noX -no-exports",
        "-comp lzo -Xalgorithm lzo1x_1_11",
        "-comp lzo -Xcompression-level 5",
        "-comp xz -Xdict-size 8K -Xbcj x86,armthumb -no-xattrs",
        "-comp xz -Xdict-size 8K",
        "-comp zstd -Xcompression-level 3 -no-fragments",
        "-tailends -no-duplicates -noId",
    ] {
        let line = format!("tree other -noappend -quiet -mkfs-time 1580702706 {options}");
        workshop.done("mksquashfs", &line);
        let words = ["-s", "other"];
        for zone in ZONES {
            let (ours, mut theirs) = both(&workshop, "unsquashfs", &words, zone);
            // 4.5.1 has other words for the flag of tail ends.
            let text = theirs.text();
            let text = text
                .replace(
                    "Always-use-fragments option is not specified",
                    "Tailends are not packed into fragments",
                )
                .replace(
                    "Always-use-fragments option is specified",
                    "Tailends are packed into fragments",
                );
            theirs.stdout = text.into_bytes();
            assert_same(&words, &(ours, theirs));
        }
    }
}

#[test]
fn superblocks_of_lz4_are_described_as_4_7_5_does() {
    let workshop = workshop();
    for (options, lines) in [
        ("-comp lz4", "Compression lz4\nBlock size 131072\n"),
        (
            "-comp lz4 -Xhc",
            "Compression lz4\n\tHigh Compression option specified (-Xhc)\nBlock size 131072\n",
        ),
    ] {
        workshop.done(
            "mksquashfs",
            &format!("tree other -noappend -quiet {options}"),
        );
        let text = workshop.done("unsquashfs", "-stat other").text();
        assert!(text.contains(lines), "{text}");
    }
}

#[test]
fn the_time_of_all_files_is_listed_too() {
    let workshop = workshop();
    let lines = |words: &str| workshop.done("unsquashfs", words).text();
    let listed = lines("-lls -UTC -full -all-time 5 image bin");
    assert!(listed.lines().count() > 1, "{listed}");
    for line in listed.lines() {
        assert!(
            line.contains(" 1970-01-01 00:00:05 squashfs-root"),
            "{line}"
        );
    }
    let informed = lines("-li -UTC -q -n -d informed -all-time 0 image bin");
    for line in informed.lines() {
        assert!(line.contains(" 1970-01-01 00:00 informed"), "{line}");
    }
    let definitions = lines("-pf - -all-time 7 image empty");
    assert!(definitions.starts_with("/ D 7 "), "{definitions}");
}

#[test]
fn a_damaged_image_still_tells_its_superblock() {
    let workshop = workshop();
    let mut bytes = fs::read(workshop.at("image")).unwrap();
    let whole = workshop.done("unsquashfs", "-s image").text();
    // The end of the superblock and the beginning of the data stay.
    let middle = bytes.len() / 2;
    bytes[200..middle].fill(0);
    fs::write(workshop.at("image"), bytes).unwrap();
    assert_eq!(workshop.done("unsquashfs", "-s image").text(), whole);
    // Without its end, where the count of extended attributes stands if there are any, it tells
    // all or nothing.
    let bytes = fs::read(workshop.at("image")).unwrap();
    fs::write(workshop.at("image"), &bytes[..middle]).unwrap();
    let ran = workshop.run("unsquashfs", "-s image");
    let expected = if ran.code == Some(0) {
        whole.as_str()
    } else {
        ""
    };
    assert_eq!(ran.text(), expected);
    workshop.done("unsquashfs", "-mkfs-time image");
}

#[test]
fn contents_are_those_of_sqfscat() {
    if skip::without_peer("sqfscat") {
        return;
    }
    let workshop = workshop();
    for line in [
        "image etc/conf",
        "image bin/app usr/lib/lib.a etc/conf.d/one",
        "image etc/conf*",
        "image usr/lib/*.a bin/*",
        "-no-wildcards image etc/conf*",
        "-r image etc ^conf$",
        "image nothing etc/conf",
        "image etc",
        "image dev/pipe",
        "image dangling",
        "-no-exit image nothing",
        "-p 1 image empty",
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_same(&words, &both(&workshop, "sqfscat", &words, "UTC"));
        let words = [&["-cat"], words.as_slice()].concat();
        let is_of_both = !line.starts_with("-p");
        if is_of_both {
            assert_same(&words, &both(&workshop, "unsquashfs", &words, "UTC"));
        }
    }
}

#[test]
fn contents_are_found_through_relative_links() {
    let workshop = Workshop::new();
    let root = workshop.at("tree");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/file"), "content").unwrap();
    symlink("a/b", root.join("link")).unwrap();
    symlink("../a/../link/file", root.join("a/up")).unwrap();
    symlink("/a/b/file", root.join("absolute")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    workshop.done("mksquashfs", "tree image -quiet");
    for path in ["link/file", "a/up", "a/../link/./file", "/a//b/file"] {
        let ran = ran(workshop.command("sqfscat").args(["image", path]));
        assert_eq!(
            (ran.code, ran.text().as_str()),
            (Some(0), "content"),
            "{path}"
        );
    }
    for (path, problem) in [
        (
            "absolute",
            "`/absolute`: the symbolic link cannot be resolved inside the image",
        ),
        (
            "loop",
            "`/loop`: the symbolic link cannot be resolved inside the image",
        ),
        (
            "link",
            "`/link`: the symbolic link does not resolve to a regular file",
        ),
        (
            "a/up/x",
            "`/a/up`: the symbolic link does not resolve to a directory",
        ),
        ("a/b", "`/a/b` is a directory"),
        ("a/b/file/x", "`/a/b/file` is not a directory"),
        ("a/x*", "no matches for `/a/x*`"),
        ("../a", "`/..`: there is nothing above the root directory"),
    ] {
        let ran = ran(workshop.command("sqfscat").args(["image", path]));
        assert_eq!(ran.code, Some(2), "{path}");
        assert!(ran.stderr.contains(problem), "{path}: {}", ran.stderr);
    }
    let listed =
        ran(workshop
            .command("unsquashfs")
            .args(["-ls", "image", "link/file", "absolute"]));
    let expected = "squashfs-root\nsquashfs-root/a\nsquashfs-root/a/b\nsquashfs-root/a/b/file\n\
                    squashfs-root/absolute\nsquashfs-root/link\n";
    assert_eq!(listed.text(), expected, "{}", listed.stderr);
    let followed = ran(workshop
        .command("unsquashfs")
        .args(["-L", "-lc", "image", "link"]));
    assert_eq!(
        followed.text(),
        "squashfs-root/a/b/file\nsquashfs-root/link\n"
    );
    // Directories that a path only leaves are listed without what is in them.
    let left = ran(workshop
        .command("unsquashfs")
        .args(["-ls", "image", "a/b/../../loop"]));
    let expected = "squashfs-root\nsquashfs-root/a\nsquashfs-root/a/b\nsquashfs-root/loop\n";
    assert_eq!(left.text(), expected, "{}", left.stderr);
}

#[test]
fn a_link_that_leads_nowhere_is_taken_itself() {
    let workshop = Workshop::new();
    fs::create_dir(workshop.at("tree")).unwrap();
    symlink("nowhere", workshop.at("tree/link")).unwrap();
    workshop.done("mksquashfs", "tree image -quiet -no-progress");
    let listed = workshop.done("unsquashfs", "-ls -follow image link");
    assert_eq!(listed.text(), "squashfs-root\nsquashfs-root/link\n");
    assert!(
        listed
            .stderr
            .contains("`/link`: the symbolic link cannot be resolved")
    );
    let refused = workshop.run("unsquashfs", "-ls -match image link");
    assert_eq!(refused.code, Some(1));
}
