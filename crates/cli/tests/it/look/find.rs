//! `coldpress find`, compared with GNU find.

mod drawn;

use std::fs;
use std::process::Command;

use super::{stage, with};
use crate::run::{Stage, detach, program};
use crate::skip;

#[test]
fn find_prints_the_paths_for_which_all_tests_hold() {
    let stage = stage();
    let all = "/\n/bin\n/empty\n/new\\x0aline\\xff\n/sparse\n/usr\n/usr/bin\n/usr/bin/link\n/usr/bin/other\n/usr/bin/tool\n/void\n";
    for (args, text) in [
        (&[][..], all),
        (&["--name", "t*"], "/usr/bin/tool\n"),
        (&["--name", "*[!a-z]*"], "/\n/new\\x0aline\\xff\n"),
        (&["--path", "/usr*o*"], "/usr/bin/other\n/usr/bin/tool\n"),
        (&["--regex", "/(bin|void)$"], "/bin\n/usr/bin\n/void\n"),
        (&["--type", "d"], "/\n/usr\n/usr/bin\n/void\n"),
        (
            &["--type", "l,d", "--max-depth", "1"],
            "/\n/bin\n/usr\n/void\n",
        ),
        (
            &["--min-depth", "3", "--type", "f"],
            "/usr/bin/other\n/usr/bin/tool\n",
        ),
        (&["--size", "300000"], "/usr/bin/other\n/usr/bin/tool\n"),
        (&["--size", "+300000", "--type", "f"], "/sparse\n"),
        (&["--size", "-1", "--type", "f"], "/empty\n"),
        (&["--empty"], "/empty\n/void\n"),
        (&["--older", "2001-09-10"], "/bin\n/empty\n/void\n"),
        (
            &["--newer", "999999999", "--older", "1000000001"],
            "/bin\n/empty\n/void\n",
        ),
        (&["--newer", "1000000000", "--name", "s*"], "/sparse\n"),
        (&["--mode", "600"], "/sparse\n"),
        (&["--mode", "/6000"], "/usr/bin/other\n/usr/bin/tool\n"),
        (&["--mode", "-4111"], "/usr/bin/other\n/usr/bin/tool\n"),
        (
            &["--links", "2", "--type", "f"],
            "/usr/bin/other\n/usr/bin/tool\n",
        ),
        (&["--links", "+99"], ""),
        (&["--xattr", "user.*", "--empty"], "/empty\n/void\n"),
        (&["--xattr", "security.*"], ""),
        (&["--uid", "4000000"], ""),
        (
            &["usr", "/bin", "--name", "l*"],
            "/usr/bin/link\n/usr/bin/link\n",
        ),
        (&["/usr/bin/link"], "/usr/bin/link\n"),
    ] {
        let ran = with(&stage, "find", args);
        assert_eq!(
            (ran.code, ran.text().as_str(), ran.stderr.as_str()),
            (Some(0), text, ""),
            "{args:?}"
        );
    }
    let raw = with(&stage, "find", &["-0", "--name", "new*"]);
    assert_eq!(raw.stdout, b"/new\nline\xff\0");
    let long = with(&stage, "find", &["-l", "--name", "link"]).text();
    assert!(
        long.starts_with('l') && long.ends_with(" /usr/bin/link -> tool\n"),
        "{long}"
    );
    let rows = with(&stage, "find", &["--json", "--mode", "/4000"]).json();
    assert_eq!(rows.as_array().unwrap().len(), 2);
    assert_eq!(rows[0]["path"], "/usr/bin/other");
    assert_eq!(
        with(&stage, "find", &["--json", "--name", "none"]).text(),
        "[]\n"
    );
}

#[test]
fn find_says_what_it_cannot_do() {
    let stage = stage();
    let ran = with(&stage, "find", &["/none", "/void"]);
    assert_eq!((ran.code, ran.text().as_str()), (Some(1), "/void\n"));
    assert_eq!(
        ran.stderr,
        "error: cannot search `/none`: the image has no such file\n"
    );
    for (args, said) in [
        (["--regex", "("], "regular expression"),
        (["--newer", "yesterday"], "--newer: "),
        (
            ["--uid", "nobody such"],
            "this system knows no user `nobody such`",
        ),
        (["--mode", "9"], "octal digits"),
        (["--size", "x"], "a size is a whole number"),
        (["--type", "x"], "invalid value 'x'"),
    ] {
        let ran = with(&stage, "find", &args);
        assert!(
            ran.code == Some(2) && ran.stderr.contains(said),
            "{args:?}: {ran:?}"
        );
    }
}

/// Predicates of GNU find and of ours that mean the same.
const PREDICATES: [(&str, &str); 22] = [
    ("", ""),
    ("-type f", "--type f"),
    ("-type d,l", "--type d,l"),
    ("-type p", "--type p"),
    ("-type b,c", "--type b,c"),
    ("-size 0c -type f", "--size 0 --type f"),
    ("-type f -size +5000c", "--type f --size +5000"),
    ("-type f -size -70c", "--type f --size -70"),
    ("-empty", "--empty"),
    ("-perm 644", "--mode 644"),
    ("-perm -022", "--mode -022"),
    ("-perm /6111", "--mode /6111"),
    ("-links 2", "--links 2"),
    ("-links +2", "--links +2"),
    ("-links -2", "--links -2"),
    ("-uid 0", "--uid 0"),
    ("-gid 5", "--gid 5"),
    ("-newermt 2001-09-10", "--newer 2001-09-10"),
    ("-name n*", "--name n*"),
    ("-name [a-e]*", "--name [a-e]*"),
    ("-path */d/*", "--path */d/*"),
    ("-mindepth 2 -maxdepth 3", "--min-depth 2 --max-depth 3"),
];

#[test]
fn find_finds_what_gnu_find_finds_in_the_mounted_image() {
    if skip::without_kernel() || skip::without_peer("find") {
        return;
    }
    let mounted = mounted();
    for (theirs, ours) in PREDICATES {
        mounted.demand_equal(
            &theirs.split_whitespace().collect::<Vec<_>>(),
            &ours.split_whitespace().collect::<Vec<_>>(),
            theirs,
        );
    }
}

/// An image of a tree of all types, mounted.
fn mounted() -> Mounted {
    let source = crate::tar::tree();
    let stage = Stage::new();
    let tree = source.path().join("t");
    stage.done(["-q", "build", tree.to_str().unwrap(), "image", "-l", "1"]);
    fs::create_dir(stage.at("mount")).unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "squashfs", "-o", "loop,ro", "image", "mount"]);
    program(mount.current_dir(stage.directory()));
    Mounted(stage)
}

/// A stage with an image, and a mount of it that goes with its guard.
struct Mounted(Stage);

impl Mounted {
    /// Demands that GNU find in the mount and ours in the image find the same paths; returns how
    /// many.
    fn demand_equal(&self, theirs: &[&str], ours: &[&str], what: &str) -> usize {
        let mut find = Command::new("find");
        find.arg(".").args(theirs).arg("-print0").env("LC_ALL", "C");
        let found = program(find.current_dir(self.0.at("mount"))).stdout;
        let mut expected: Vec<&[u8]> = found.split(|byte| *byte == 0).collect();
        let found = self
            .0
            .done([&["find", "image", "-0"], ours].concat())
            .stdout;
        let mut paths: Vec<Vec<u8>> = found
            .split(|byte| *byte == 0)
            .map(|path| match path {
                b"" => Vec::new(),
                b"/" => b".".to_vec(),
                path => [b".", path].concat(),
            })
            .collect();
        expected.sort_unstable();
        paths.sort_unstable();
        assert_eq!(paths, expected, "{what}");
        paths.len() - 1
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        detach(&self.0.at("mount"));
    }
}
