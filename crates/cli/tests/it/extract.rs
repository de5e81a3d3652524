//! `coldpress extract`: what of an image, with what metadata, and what it says of the rest.

mod limits;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use crate::run::Stage;
use crate::skip;

/// A stage with `image`, of a tree in which patterns match something.
fn stage() -> Stage {
    let stage = Stage::new();
    for directory in ["tree/a/sub", "tree/b", "tree/c d"] {
        fs::create_dir_all(stage.at(directory)).unwrap();
    }
    for file in ["a/x.c", "a/x.o", "a/sub/y.o", "b/keep.o", "c d/x.c", "z.o"] {
        fs::write(stage.at("tree").join(file), file).unwrap();
    }
    fs::hard_link(stage.at("tree/z.o"), stage.at("tree/a/z-too")).unwrap();
    symlink("/etc/passwd", stage.at("tree/b/outside")).unwrap();
    stage.done(["build", "-q", "tree", "image"]);
    stage
}

/// The paths below a directory, sorted, one in each line; directories end with a slash.
fn paths(root: &Path) -> String {
    let mut pending = vec![root.to_path_buf()];
    let mut paths = Vec::new();
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let is_directory = path.symlink_metadata().unwrap().is_dir();
            let name = path.strip_prefix(root).unwrap().display();
            paths.push(format!("{name}{}", if is_directory { "/" } else { "" }));
            if is_directory {
                pending.push(path);
            }
        }
    }
    paths.sort();
    paths.join("\n")
}

#[test]
fn paths_and_patterns_say_what_is_extracted() {
    let stage = stage();
    fs::write(stage.at("list"), "# objects\n*.o\n\n!keep.o\n").unwrap();
    // Flags with `|` between, paths, exit status, and what is extracted with spaces between.
    let cases = [
        ("--include|*.c", "", 0, "a/ a/x.c c d/ c d/x.c"),
        ("--include|/a/sub/", "", 0, "a/ a/sub/ a/sub/y.o"),
        (
            "--exclude|*.o|--exclude|/c d",
            "",
            0,
            "a/ a/sub/ a/x.c a/z-too b/ b/outside",
        ),
        (
            "--exclude|a|--include|a/sub/*.o",
            "a b",
            0,
            "a/ a/sub/ a/sub/y.o b/ b/keep.o b/outside",
        ),
        (
            "--exclude-from|list",
            "b a/sub",
            0,
            "a/ a/sub/ b/ b/keep.o b/outside",
        ),
        (
            "--exclude-syntax|path|--exclude|z.o",
            "",
            0,
            "a/ a/sub/ a/sub/y.o a/x.c a/x.o b/ b/keep.o b/outside c d/ c d/x.c",
        ),
        ("--max-depth|1", "", 0, "a/ b/ c d/ z.o"),
        (
            "--exclude-syntax|path|--exclude|a/gone",
            "b",
            1,
            "b/ b/keep.o b/outside",
        ),
        (
            "--exclude-syntax|wildcards|--exclude|... *.o",
            "a",
            0,
            "a/ a/sub/ a/x.c a/z-too",
        ),
        ("--exclude-syntax|regex|--exclude|^[ac]/x", "a/x.c", 0, ""),
        ("--exclude|*.gz", "a/x.c", 1, "a/ a/x.c"),
        ("--confine-symlinks", "b", 1, "b/ b/keep.o"),
    ];
    for (index, (flags, inside, code, expected)) in cases.into_iter().enumerate() {
        let to = format!("out-{index}");
        let args = ["extract", "image", &to].into_iter();
        let args = args
            .chain(inside.split_whitespace())
            .chain(flags.split('|'));
        let ran = stage.run(args);
        assert_eq!(ran.code, Some(code), "{flags}: {}", ran.stderr);
        let found = paths(&stage.at(&to)).replace('\n', " ");
        assert_eq!(found, expected, "{flags}: {}", ran.stderr);
    }
}

#[test]
fn a_pattern_that_matches_nothing_is_named() {
    let stage = stage();
    let ran = stage.run([
        "extract",
        "image",
        "out",
        "--exclude",
        "*.gz",
        "--include",
        "q",
    ]);
    assert_eq!(ran.code, Some(1));
    for pattern in ["*.gz", "q"] {
        let sentence = format!("nothing that could be extracted matches `{pattern}`");
        assert!(ran.stderr.contains(&sentence), "{}", ran.stderr);
    }
    let ran = stage.run(["extract", "image", "none", "/gone"]);
    assert_eq!(ran.code, Some(2));
    assert!(!stage.at("none").exists());
}

/// Leaving out at extraction is leaving out at the build.
#[test]
fn patterns_mean_what_they_mean_in_a_build() {
    let stage = stage();
    let cases: [&[&str]; 7] = [
        &["--exclude", "*.o"],
        &["--exclude", "/a/*", "--exclude", "!x.c"],
        &["--exclude", "a/", "--include", "/a/sub/y.o"],
        &["--exclude", "x.c", "--max-depth", "2"],
        &["--exclude", "/*", "--include", "c d/"],
        &["--exclude-syntax", "wildcards", "--exclude", "*/x.@(c|o)"],
        &[
            "--exclude-syntax",
            "regex",
            "--exclude",
            "... ^x",
            "--exclude",
            "b",
        ],
    ];
    for (index, flags) in cases.into_iter().enumerate() {
        let (part, built, extracted) = (
            format!("part-{index}"),
            format!("built-{index}"),
            format!("extracted-{index}"),
        );
        stage.done(["build", "-q", "tree", &part].iter().chain(flags));
        stage.done(["extract", &part, &built]);
        stage.done(["extract", "image", &extracted].iter().chain(flags));
        assert_eq!(
            paths(&stage.at(extracted)),
            paths(&stage.at(built)),
            "{flags:?}"
        );
    }
}

#[test]
fn metadata_is_replaced_as_asked() {
    let stage = stage();
    let flags = "--file-mode u=rw,go= --dir-mode 0700 --time 2024-01-31";
    let args = ["extract", "image", "out"].into_iter();
    stage.done(args.chain(flags.split(' ')));
    for (path, mode) in [("", 0o700), ("a/sub", 0o700), ("a/x.c", 0o600)] {
        let metadata = stage.at("out").join(path).metadata().unwrap();
        let found = (metadata.permissions().mode() & 0o7777, metadata.mtime());
        assert_eq!(found, (mode, 1_706_659_200), "{path}");
    }
    let link = stage.at("out/b/outside").symlink_metadata().unwrap();
    assert_eq!(link.mtime(), 1_706_659_200);
    for (flags, sentence) in [
        ("--time inode", "time `inode` has no meaning"),
        ("--file-mode 99", "octal"),
        ("--uid nobody-of-this-name", "neither a number"),
        ("--xattr-include (", "`(`"),
    ] {
        let args = ["extract", "image", "wrong"].into_iter();
        let ran = stage.run(args.chain(flags.split(' ')));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(sentence), "{}", ran.stderr);
        assert!(!stage.at("wrong").exists(), "{flags}");
    }
    if !skip::without_root() {
        stage.done(["extract", "image", "owned", "--uid", "12", "--gid", "34"]);
        let metadata = stage.at("owned/b/outside").symlink_metadata().unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (12, 34));
    }
}

#[test]
fn xattrs_are_restored_by_their_names() {
    let stage = stage();
    let add = ["--xattr-add", "user.one=1", "--xattr-add", "user.two=2"];
    stage.done(["build", "-q", "tree", "tagged"].iter().chain(&add));
    stage.done(["extract", "tagged", "some", "--xattr-exclude", "one$"]);
    stage.done(["extract", "tagged", "none", "--no-xattrs"]);
    let has = |path: &str, name: &str| {
        let mut value = [0; 8];
        let path = stage.at(path);
        rustix::fs::getxattr(&path, name, &mut value).is_ok()
    };
    for (path, one, two) in [("some/z.o", false, true), ("none/z.o", false, false)] {
        assert_eq!((has(path, "user.one"), has(path, "user.two")), (one, two));
    }
}
