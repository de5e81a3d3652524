//! What is printed, refused and stored, option by option.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use super::tools::{Workshop, input, ran};
use super::tree;
use crate::run::done;
use crate::skip;

fn workshop() -> Workshop {
    let workshop = Workshop::new();
    tree::write(&workshop.at("SRC"));
    workshop
}

/// Demands that both write the same tree for a line with `OUT`; times of the root directory and of
/// what definitions add are those of the moment and not compared.
fn same(workshop: &Workshop, line: &str, stdin: Option<&Path>) {
    if skip::without_peer("unsquashfs") || skip::without_peer("mksquashfs") {
        return;
    }
    let stdin = || stdin.map_or_else(Stdio::null, input);
    let words = |image| {
        let words = line.split(' ').filter(|word| !word.is_empty());
        words.map(move |word| match word {
            "OUT" => image,
            word => word,
        })
    };
    for (mut command, image) in [
        (workshop.command("mksquashfs"), "ours"),
        (workshop.peer("mksquashfs"), "theirs"),
    ] {
        let ran = ran(command.args(words(image)).stdin(stdin()));
        assert_eq!(ran.code, Some(0), "{image} {line}: {}", ran.stderr);
    }
    let timeless = |listing: String| {
        let year = "20"; // Those of the tree are of 2020 and 2021.
        let lines = listing.lines().map(|line| {
            let is_ours = ["2020-", "2021-"].iter().any(|old| line.contains(old));
            let end = if is_ours && !line.ends_with(" squashfs-root") {
                line.len()
            } else {
                line.find(&format!(" {year}")).unwrap_or(line.len())
            };
            let name = line.rsplit(' ').next().unwrap_or_default();
            format!("{} {name}", &line[..end])
        });
        lines.collect::<Vec<_>>()
    };
    let ours = timeless(workshop.listing("ours", 0));
    let theirs = timeless(workshop.listing("theirs", 0));
    assert_eq!(ours, theirs, "{line}");
    for image in ["ours", "theirs"] {
        fs::remove_file(workshop.at(image)).unwrap();
    }
}

#[test]
fn owners_modes_and_times_are_set_as_by_mksquashfs() {
    let workshop = workshop();
    for line in [
        "SRC OUT -root-mode 711 -root-uid 5 -root-gid 6",
        "SRC OUT -force-uid 7 -force-gid 8 -all-time 1610000000",
        "SRC OUT -force-uid root -no-xattrs -root-time 1610000000",
        "SRC OUT -all-time 1610000000 -mkfs-time 5 -no-exports -no-sparse -always-use-fragments",
    ] {
        same(&workshop, line, None);
    }
}

#[test]
fn sources_are_named_as_by_mksquashfs() {
    let workshop = workshop();
    symlink("SRC/bin", workshop.at("link")).unwrap();
    same(&workshop, "SRC/bin SRC/etc SRC/bin SRC/empty OUT", None);
    same(&workshop, "SRC/bin OUT -keep-as-directory", None);
    same(&workshop, "SRC/etc/conf OUT", None);
    same(&workshop, "SRC/etc/../bin/. OUT", None);
    same(&workshop, "link OUT", None);
    same(
        &workshop,
        "SRC/usr/lib SRC/etc/conf ./SRC/bin OUT -tarstyle",
        None,
    );
}

#[test]
fn names_on_standard_input_are_stored_without_what_is_below_them() {
    let workshop = workshop();
    let lines = "SRC/etc\nSRC/etc/conf\n\n./SRC/bin/app\nSRC/none\n";
    let lines = workshop.file("lines", lines);
    let zeros = workshop.file("zeros", "SRC/usr/lib/lib.so\0SRC/name with spaces\0");
    for (option, names, expected) in [
        (
            "-cpiostyle",
            lines,
            &[
                "/SRC",
                "/SRC/bin",
                "/SRC/bin/app",
                "/SRC/etc",
                "/SRC/etc/conf",
            ][..],
        ),
        (
            "-cpiostyle0",
            zeros,
            &[
                "/SRC",
                "/SRC/name with spaces",
                "/SRC/usr",
                "/SRC/usr/lib",
                "/SRC/usr/lib/lib.so",
            ],
        ),
    ] {
        let mut command = workshop.command("mksquashfs");
        command.args(["-", "out", "-noappend", "-info-file", option, option]);
        let ran = ran(command.stdin(input(&names)));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let log = fs::read_to_string(workshop.at(option)).unwrap();
        let path = |line: &str| {
            let line = line.split(", uncompressed").next().unwrap_or_default();
            line[line.find('/').unwrap()..].to_owned()
        };
        let mut found: Vec<String> = log.lines().map(path).collect();
        found.sort();
        found.retain(|path| path != "/");
        assert_eq!(found, expected, "{option}");
    }
}

#[test]
fn tar_streams_are_stored_as_by_sqfstar() {
    let workshop = workshop();
    if skip::without_peer("sqfstar") || skip::without_peer("unsquashfs") {
        return;
    }
    let archive = workshop.at("tar");
    let mut tar = workshop.peer("tar");
    tar.args(["-C", "SRC", "-cf", "tar", "."]);
    assert_eq!(ran(&mut tar).code, Some(0));
    for options in [
        "-comp xz",
        "-all-root -exports -no-tailends",
        "-root-mode 700",
    ] {
        let words = || options.split(' ');
        for (mut command, image) in [
            (workshop.command("sqfstar"), "ours"),
            (workshop.peer("sqfstar"), "theirs"),
        ] {
            command.args(words()).args([image, "bin/linked"]);
            let ran = ran(command.stdin(input(&archive)));
            assert_eq!(ran.code, Some(0), "{image} {options}: {}", ran.stderr);
        }
        let lines = |image| {
            let listing = workshop.listing(image, 0);
            // The time of the root directory is that of the moment there.
            let (root, rest) = listing.split_once('\n').unwrap();
            let root = root
                .split_whitespace()
                .take(3)
                .collect::<Vec<_>>()
                .join(" ");
            format!("{root}\n{rest}")
        };
        assert_eq!(lines("ours"), lines("theirs"), "{options}");
        fs::remove_file(workshop.at("ours")).unwrap();
        fs::remove_file(workshop.at("theirs")).unwrap();
    }
    let mut command = workshop.command("mksquashfs");
    let ran = ran(command
        .args(["-", "ours", "-tar", "-quiet"])
        .stdin(input(&archive)));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    done([Path::new("check"), &workshop.at("ours")]);
}

#[test]
fn definitions_alone_make_an_image() {
    let workshop = workshop();
    workshop.file(
        "definitions",
        "/ d 755 1 2\na d 700 root 3\na/n c 600 0 0 1 3\n",
    );
    same(&workshop, "- OUT -pf definitions", None);
    let file = workshop.file("command", "/ d 755 1 2\nhello f 644 4 5 echo hello\n");
    same(&workshop, "- OUT -pf command", None);
    let mut command = workshop.command("mksquashfs");
    let ran = ran(command.args(["-", "out", "-pf", "-"]).stdin(input(&file)));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let image = workshop.at("out");
    let content = done([Path::new("cat"), &image, Path::new("hello")]).text();
    assert_eq!(content, "hello\n");
}

#[test]
fn everything_behind_e_is_left_out() {
    let workshop = workshop();
    fs::write(workshop.at("SRC/-comp"), "").unwrap();
    same(
        &workshop,
        "SRC OUT -noappend -e usr/lib SRC/bin ./SRC/etc -comp",
        None,
    );
    same(&workshop, "SRC OUT -regex -e usr lib.*", None);
    workshop.done("mksquashfs", "SRC out -e -comp xz");
    let info = done([Path::new("info"), &workshop.at("out")]).text();
    assert!(info.contains("gzip") && !info.contains("xz"), "{info}");
}

#[test]
fn summaries_begin_with_the_words_of_mksquashfs() {
    let workshop = workshop();
    let text = workshop.done("mksquashfs", "SRC out -info").text();
    for line in [
        "Creating 4.0 filesystem on out, block size 131072.",
        "file /bin/app, uncompressed size 300000 bytes ",
        "file /etc/conf.d/same, uncompressed size 2 bytes DUPLICATE",
        "symbolic link /dangling",
        "directory /",
        "Exportable Squashfs 4.0 filesystem, gzip compressed, data block size 131072",
        "Number of inodes 19",
        "Number of hard-links 1",
        "Number of symbolic links 2",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}:\n{text}");
    }
    for start in ["Filesystem size ", "Number of fragments ", "Number of ids "] {
        assert!(
            text.lines().any(|line| line.starts_with(start)),
            "{start}:\n{text}"
        );
    }
    let text = workshop
        .done(
            "mksquashfs",
            "SRC out -quiet -noappend -no-progress -info-file log",
        )
        .text();
    assert_eq!(text, "");
    let log = fs::read_to_string(workshop.at("log")).unwrap();
    assert!(log.ends_with("\ndirectory /\n"), "{log}");
    let again = workshop.run("mksquashfs", "SRC out -noappend -info-file log");
    assert_eq!(again.code, Some(1));
}

#[test]
fn percentages_ascend_to_100_on_lines_of_their_own() {
    let workshop = workshop();
    let text = workshop
        .done("mksquashfs", "SRC out -quiet -percentage -limit 50")
        .text();
    let lines = text.strip_suffix("\n\n").unwrap().lines();
    let percents: Vec<u32> = lines.map(|line| line.parse().unwrap()).collect();
    assert!(percents.is_sorted_by(|left, right| left < right), "{text}");
    assert_eq!(percents.last(), Some(&100));
}

#[test]
fn an_existing_image_is_replaced_only_on_request() {
    let workshop = workshop();
    workshop.file("SRC/image.sqfs", "not an image");
    let refused = workshop.run("mksquashfs", "SRC SRC/image.sqfs");
    assert_eq!(refused.code, Some(1));
    let expected = "error: `SRC/image.sqfs` cannot be appended to: no SquashFS image begins at byte \
                    0 of it\n\nhint: add -noappend to replace it\n";
    assert_eq!(refused.stderr, expected);
    workshop.done("mksquashfs", "SRC SRC/image.sqfs -noappend");
    let names = done([Path::new("ls"), &workshop.at("SRC/image.sqfs")]).text();
    assert!(
        names.contains("empty") && !names.contains("image.sqfs"),
        "{names}"
    );
    let refused = workshop.run("sqfstar", "SRC/image.sqfs");
    assert!(
        refused.stderr.contains("add -force to replace it"),
        "{}",
        refused.stderr
    );
}

#[test]
fn warnings_are_errors_only_on_request() {
    let workshop = workshop();
    let time = Timespec {
        tv_sec: -86_400,
        tv_nsec: 0,
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    utimensat(CWD, workshop.at("SRC/empty"), &times, AtFlags::empty()).unwrap();
    let ran = workshop.done("mksquashfs", "SRC out");
    assert!(ran.stderr.starts_with("warning: "), "{}", ran.stderr);
    let ran = workshop.run("mksquashfs", "SRC new -exit-on-error");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(!workshop.at("new").exists());
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let workshop = workshop();
    for (line, name) in [
        ("SRC out -no-such-option", "-no-such-option"),
        ("SRC out -action prune@true", "-action"),
        ("SRC out -root-becomes ..", "-root-becomes"),
        ("SRC out -comp xz -Xhc", "-Xhc"),
        ("SRC out -comp lzma", "-comp lzma"),
        ("none out", "none"),
        ("SRC out -sort none", "none"),
        ("SRC out -mkfs-time never-ever", "-mkfs-time"),
        ("SRC out -root-mode u+q", "-root-mode"),
    ] {
        let ran = workshop.run("mksquashfs", line);
        assert_eq!(ran.code, Some(1), "{line}: {}", ran.stderr);
        assert!(
            ran.stderr.contains(&format!("`{name}")),
            "{line}: {}",
            ran.stderr
        );
        assert!(!workshop.at("out").exists(), "{line}");
    }
    let mut command = workshop.command("mksquashfs");
    command.args(["SRC", "out", "-mkfs-time", "1"]);
    let ran = ran(command.env("SOURCE_DATE_EPOCH", "1"));
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("SOURCE_DATE_EPOCH"), "{}", ran.stderr);
}

#[test]
fn the_tools_are_verbs_too() {
    let workshop = workshop();
    let version = workshop.done("mksquashfs", "-version").text();
    assert!(
        version.starts_with("mksquashfs version 4.7 (coldpress "),
        "{version}"
    );
    assert_eq!(done(["mksquashfs", "-version"]).text(), version);
    assert_eq!(done(["-q", "mksquashfs", "-version"]).text(), version);
    let help = done(["sqfstar", "-help"]).text();
    assert!(
        help.starts_with("usage: sqfstar [OPTIONS] DESTINATION"),
        "{help}"
    );
    assert_eq!(workshop.done("sqfstar", "-h").text(), help);
    for verb in ["mksquashfs", "sqfstar"] {
        let help = done([verb, "--help"]).text();
        assert!(
            help.contains(&format!("Example:\n  coldpress {verb} ")),
            "{help}"
        );
    }
    let image = workshop.at("image");
    done([
        Path::new("mksquashfs"),
        &workshop.at("SRC"),
        &image,
        Path::new("-quiet"),
    ]);
    done([Path::new("check"), &image]);
}
