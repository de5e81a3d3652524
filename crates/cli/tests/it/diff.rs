//! Images beside images and directories: each cause of a difference is named, and no other.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::run::{Stage, program};
use crate::skip;

/// Text of so many bytes in which words come back.
pub(crate) fn text(seed: u32, bytes: usize) -> Vec<u8> {
    let mut state = seed;
    let mut text = Vec::new();
    while text.len() < bytes {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.extend(format!("{} ", (state >> 16) % 5000).into_bytes());
    }
    text.truncate(bytes);
    text
}

/// A directory `source` with a file of each kind of storage.
fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir_all(stage.at("source/dir")).unwrap();
    fs::create_dir_all(stage.at("source/other dir")).unwrap();
    for (name, bytes) in [
        ("a", text(1, 300_000)),
        ("b", text(1, 300_000)),
        ("dir/c", text(2, 150_000)),
        ("dir/small", text(3, 1000)),
        ("other dir/d", text(4, 140_000)),
        ("other dir/tiny\n", text(5, 100)),
    ] {
        fs::write(stage.at("source").join(name), bytes).unwrap();
    }
    symlink("a", stage.at("source/link")).unwrap();
    fs::hard_link(stage.at("source/dir/c"), stage.at("source/hard")).unwrap();
    stage
}

fn build(stage: &Stage, image: &str, options: &[&str]) {
    let mut args = vec!["-q", "build", "source", image, "--inode-time=7"];
    args.extend(options);
    stage.done(args);
}

/// What `diff` found: lines of the tree, fields of the superblock, layout without its numbers.
fn found(report: &Value) -> (Vec<String>, Vec<String>, Vec<String>) {
    let list = |key: &str| report[key].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tree = list("tree");
    let tree = tree
        .iter()
        .map(|row| format!("{} {}", text(&row["name"]), text(&row["what"])));
    let fields = list("superblock");
    let fields = fields.iter().map(|row| text(&row["name"]));
    let layout = list("layout");
    (
        tree.collect(),
        fields.filter(|name| name != "bytes used").collect(),
        layout.iter().map(text).collect(),
    )
}

fn diff(stage: &Stage, first: &str, second: &str, options: &[&str]) -> (Option<i32>, Value) {
    let mut args = vec!["-q", "diff", first, second, "--json"];
    args.extend(options);
    let ran = stage.run(args);
    assert_eq!(ran.stderr, "");
    (ran.code, ran.json())
}

#[test]
fn each_setting_that_changes_the_bytes_is_named_alone() {
    let stage = stage();
    let all = ["--compressor", "gzip", "--image-time=9"];
    build(&stage, "base", &all);
    fs::write(
        stage.at("order.plan"),
        "coldpress-plan 1\n[data]\nblocks /other\\x20dir/d\n",
    )
    .unwrap();
    let cases: [(&[&str], &[&str], &[&str]); 8] = [
        (&["--compressor", "gzip", "--image-time=9"], &[], &[]),
        (
            &["--compressor", "gzip", "--image-time=8"],
            &["modification time"],
            &[],
        ),
        (
            &["--compressor", "gzip", "--image-time=9", "--level=2"],
            &["compressor options", "flags"],
            &[
                "10 of 10 data blocks hold the same, compressed by gzip to other bytes (with other options), the first of `/a`",
            ],
        ),
        (
            &["--compressor", "gzip", "--image-time=9", "--level=12"],
            &[],
            &[
                "10 of 10 data blocks hold the same, compressed by gzip to other bytes (another level or another encoder), the first of `/a`",
            ],
        ),
        (
            &["--compressor", "xz", "--image-time=9"],
            &["compressor"],
            &[],
        ),
        (
            &["--compressor", "gzip", "--image-time=9", "--no-export"],
            &["flags", "tables"],
            &[],
        ),
        (
            &["--compressor", "gzip", "--image-time=9", "--tails=none"],
            &["flags", "fragment blocks"],
            &["2 tail ends are in fragment blocks of one image only, the first of `/dir/small`"],
        ),
        (
            &["--compressor", "gzip", "--image-time=9", "--no-duplicates"],
            &["flags"],
            &["files that share their data with another: 1 -> 0"],
        ),
    ];
    for (options, fields, layout) in cases {
        build(&stage, "other", options);
        let (code, report) = diff(&stage, "base", "other", &[]);
        let is_same = fields.is_empty() && layout.is_empty();
        let found = found(&report);
        assert_eq!(found.0, Vec::<String>::new(), "{options:?}");
        assert_eq!(found.1, fields, "{options:?}");
        assert_eq!(found.2, layout, "{options:?}");
        assert_eq!(code, Some(i32::from(!is_same)), "{options:?}");
        // The tree is the same whatever the settings are.
        let (code, _) = diff(&stage, "base", "other", &["--tree-only"]);
        assert_eq!(code, Some(0), "{options:?}");
    }
}

#[test]
fn another_order_of_data_is_named_with_the_file_behind_which_it_begins() {
    let stage = stage();
    build(&stage, "base", &[]);
    let plan = "coldpress-plan 1\n[data]\nblocks /dir/c\nblocks /a\n";
    fs::write(stage.at("plan"), plan).unwrap();
    build(&stage, "other", &["--plan", "plan"]);
    let (code, report) = diff(&stage, "base", "other", &[]);
    assert_eq!(code, Some(1));
    let (tree, fields, layout) = found(&report);
    assert_eq!((tree.len(), fields.len()), (0, 0));
    assert_eq!(layout, ["data lies in another order after `/a`"]);
}

#[test]
fn each_difference_of_the_trees_is_named_alone_also_beside_the_directory() {
    type Change = fn(&Path);
    let cases: [(Change, &[&str], &[&str]); 9] = [
        (
            |root| {
                let mut bytes = fs::read(root.join("a")).unwrap();
                bytes[200_001] ^= 1;
                fs::write(root.join("a"), bytes).unwrap();
            },
            &["/a other content from byte"],
            &["/a other content in the block at byte"],
        ),
        (
            |root| fs::write(root.join("dir/small"), "short").unwrap(),
            &["/dir/small length in bytes"],
            &["/dir/small length in bytes"],
        ),
        (
            |root| fs::remove_file(root.join("other dir/tiny\n")).unwrap(),
            &["/other dir/tiny\\x0a only in the first"],
            &["/other dir/tiny\\x0a only in the first"],
        ),
        (
            |root| fs::create_dir(root.join("dir/new")).unwrap(),
            &["/dir/new only in the second"],
            &["/dir/new only in the second"],
        ),
        (
            |root| {
                fs::remove_file(root.join("link")).unwrap();
                symlink("b", root.join("link")).unwrap();
            },
            &["/link target"],
            &["/link other target"],
        ),
        (
            |root| {
                fs::remove_file(root.join("b")).unwrap();
                fs::create_dir(root.join("b")).unwrap();
            },
            &["/b mode", "/b type"],
            &["/b mode", "/b other type or device number"],
        ),
        (
            |root| {
                fs::remove_file(root.join("hard")).unwrap();
                fs::copy(root.join("dir/c"), root.join("hard")).unwrap();
            },
            &["/hard linked to other names"],
            // Directories are left for later there, so it is met second.
            &["/dir/c linked to other names"],
        ),
        (
            |root| {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = fs::Permissions::from_mode(0o4711);
                fs::set_permissions(root.join("a"), mode).unwrap();
            },
            &["/a mode"],
            &["/a mode"],
        ),
        (|_| {}, &[], &[]),
    ];
    for (change, beside_image, beside_directory) in cases {
        let stage = stage();
        build(&stage, "first", &[]);
        change(&stage.at("source"));
        build(&stage, "second", &[]);
        let (code, report) = diff(&stage, "first", "second", &["--tree-only"]);
        assert_eq!(found(&report).0, beside_image);
        assert_eq!(code, Some(i32::from(!beside_image.is_empty())));
        // Times of the directory are its own.
        let (_, report) = diff(&stage, "first", "source", &["--no-times"]);
        assert_eq!(found(&report).0, beside_directory);
    }
}

#[test]
fn what_is_left_out_makes_no_difference() {
    let stage = stage();
    build(&stage, "first", &[]);
    for (options, flag, what) in [
        (&["--uid=5"][..], "--no-owners", "owner"),
        (&["--gid=5"], "--no-owners", "group"),
        (&["--file-mode=0600"], "--no-modes", "mode"),
        (&["--xattr-add=user.x=1"], "--no-xattrs", "other xattrs"),
        (&["--inode-time=8"], "--no-times", "modified"),
    ] {
        let mut args = vec!["-q", "build", "source", "second"];
        args.extend(options);
        if !options[0].starts_with("--inode-time") {
            args.push("--inode-time=7");
        }
        stage.done(args);
        let (code, report) = diff(&stage, "first", "second", &["--tree-only"]);
        let rows = found(&report).0;
        assert!(rows.iter().all(|row| row.ends_with(what)), "{rows:?}");
        assert!(!rows.is_empty() && code == Some(1), "{options:?}");
        for flag in [flag, "--content-only"] {
            let (code, _) = diff(&stage, "first", "second", &["--tree-only", flag]);
            assert_eq!(code, Some(0), "{options:?} {flag}");
        }
    }
}

#[test]
fn content_is_the_same_whatever_the_blocks_are() {
    let stage = stage();
    fs::write(stage.at("source/holes"), vec![0; 400_000]).unwrap();
    let mut almost = vec![0; 400_000];
    almost[399_999] = 1;
    fs::write(stage.at("source/almost"), &almost).unwrap();
    build(&stage, "first", &["--compressor", "lz4"]);
    for (block_size, tails) in [("4K", "all"), ("64K", "none"), ("1M", "small")] {
        let options = ["--block-size", block_size, "--tails", tails];
        build(&stage, "second", &options);
        let (code, report) = diff(&stage, "first", "second", &["--tree-only"]);
        assert_eq!(code, Some(0), "{block_size}: {report}");
        let (code, _) = diff(&stage, "first", "second", &["--content-only"]);
        assert_eq!(code, Some(0), "{block_size}");
    }
    almost[399_998] = 1;
    fs::write(stage.at("source/almost"), &almost).unwrap();
    fs::write(stage.at("source/holes"), &almost).unwrap();
    build(&stage, "second", &["--block-size", "1M"]);
    let ran = stage.run(["-q", "diff", "first", "second", "--tree-only"]);
    let expected = "tree\n  /almost: other content from byte 399998\n  \
                    /holes: other content from byte 399998\n";
    assert_eq!(ran.text(), expected);
}

#[test]
fn it_agrees_with_sqfsdiff_and_counts_what_it_does_not_list() {
    if skip::without_peer("sqfsdiff") {
        return;
    }
    let stage = Stage::new();
    fs::create_dir(stage.at("source")).unwrap();
    for number in 0..150 {
        fs::write(stage.at(format!("source/{number}")), "one").unwrap();
    }
    build(&stage, "first", &[]);
    for number in 0..150 {
        fs::write(stage.at(format!("source/{number}")), "two").unwrap();
    }
    build(&stage, "second", &[]);
    let mut peer = std::process::Command::new("sqfsdiff");
    peer.args(["-a", "first", "-b", "second"]);
    let output = peer.current_dir(stage.directory()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let peer = String::from_utf8(output.stdout).unwrap();
    let ran = stage.run(["-q", "diff", "first", "second", "--tree-only", "--all"]);
    assert_eq!(ran.text().lines().count() - 1, peer.lines().count());
    let ran = stage.run(["-q", "diff", "first", "second", "--tree-only"]);
    assert_eq!(ran.text().lines().count(), 1 + 100 + 1);
    assert!(ran.text().ends_with("  and 50 more; --all lists them\n"));
    let mut peer = std::process::Command::new("sqfsdiff");
    program(
        peer.args(["-C", "-a", "first", "-b", "second"])
            .current_dir(stage.directory()),
    );
    let (code, _) = diff(&stage, "first", "second", &["--tree-only", "--no-content"]);
    assert_eq!(code, Some(0));
}

#[test]
fn a_damaged_image_is_named() {
    let stage = stage();
    build(&stage, "first", &["--image-time=1"]);
    build(&stage, "second", &["--image-time=2"]);
    let mut bytes = fs::read(stage.at("second")).unwrap();
    let table = u64::from_le_bytes(*bytes[64..].first_chunk().unwrap());
    let table = usize::try_from(table).unwrap();
    bytes[table + 2..table + 40].fill(0xff);
    fs::write(stage.at("second"), bytes).unwrap();
    let ran = stage.run(["-q", "diff", "first", "second"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("cannot compare `second`"),
        "{}",
        ran.stderr
    );
}

/// Paths below a directory, sorted.
fn paths_below(stage: &Stage, directory: &str) -> Vec<String> {
    let mut find = std::process::Command::new("find");
    let find = find.args([directory, "-mindepth", "1", "-printf", "%P\n"]);
    let found = program(find.current_dir(stage.directory())).text();
    let mut paths: Vec<String> = found.lines().map(str::to_owned).collect();
    paths.sort();
    paths
}

#[test]
fn what_differs_is_extracted_of_both() {
    let stage = stage();
    let at = |name: &str| stage.at("source").join(name);
    fs::create_dir(at("gone")).unwrap();
    fs::write(at("gone/file"), "gone").unwrap();
    fs::write(at("kind"), "a file").unwrap();
    build(&stage, "first", &[]);
    fs::remove_dir_all(at("gone")).unwrap();
    fs::remove_file(at("kind")).unwrap();
    fs::create_dir_all(at("kind/below")).unwrap();
    fs::write(at("dir/small"), "other").unwrap();
    fs::write(at("dir/new"), "new").unwrap();
    fs::remove_file(at("link")).unwrap();
    symlink("b", at("link")).unwrap();
    // Metadata alone, also of a directory, is nothing to extract.
    build(&stage, "second", &["--dir-mode=0700", "--uid=0"]);
    fs::create_dir(stage.at("out")).unwrap();
    let (code, report) = diff(&stage, "first", "second", &["--extract", "out"]);
    assert_eq!(code, Some(1));
    assert_eq!(report["tree_differences"], found(&report).0.len());
    assert_eq!(
        paths_below(&stage, "out"),
        [
            "new",
            "new/dir",
            "new/dir/new",
            "new/dir/small",
            "new/kind",
            "new/kind/below",
            "new/link",
            "old",
            "old/dir",
            "old/dir/small",
            "old/gone",
            "old/gone/file",
            "old/kind",
            "old/link",
        ]
    );
    assert_eq!(
        fs::read(stage.at("out/old/dir/small")).unwrap(),
        text(3, 1000)
    );
    assert_eq!(fs::read(stage.at("out/new/dir/small")).unwrap(), b"other");
    assert_eq!(
        fs::read_link(stage.at("out/new/link")).unwrap(),
        Path::new("b")
    );

    // Nothing is put beside what is there, before anything is compared.
    let ran = stage.run(["-q", "diff", "first", "second", "--extract", "out"]);
    let said = "error: `out` is not empty\n\nhint: name another directory\n";
    assert_eq!(
        (ran.code, ran.stdout.len(), &*ran.stderr),
        (Some(2), 0, said)
    );
    // Nothing differs, nothing is made.
    let ran = stage.run(["-q", "diff", "first", "first", "--extract", "none"]);
    assert_eq!((ran.code, stage.at("none").exists()), (Some(0), false));
}

#[test]
fn it_extracts_the_files_that_sqfsdiff_extracts() {
    if skip::without_peer("sqfsdiff") {
        return;
    }
    let stage = stage();
    build(&stage, "first", &[]);
    fs::write(stage.at("source/dir/small"), "other").unwrap();
    fs::write(stage.at("source/added"), "added").unwrap();
    fs::remove_file(stage.at("source/other dir/d")).unwrap();
    build(&stage, "second", &[]);
    let mut peer = std::process::Command::new("sqfsdiff");
    peer.args(["-a", "first", "-b", "second", "-e", "theirs"]);
    let output = peer.current_dir(stage.directory()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let (code, _) = diff(&stage, "first", "second", &["--extract", "ours"]);
    assert_eq!(code, Some(1));
    let mut compare = std::process::Command::new("diff");
    program(
        compare
            .args(["-r", "ours", "theirs"])
            .current_dir(stage.directory()),
    );
    assert_eq!(paths_below(&stage, "ours"), paths_below(&stage, "theirs"));
}

#[test]
fn the_old_name_of_a_flag_works_and_leads_to_the_new_one() {
    let stage = stage();
    build(&stage, "first", &[]);
    let new = stage.run(["diff", "first", "first", "--tree-only"]);
    let old = stage.run(["diff", "first", "first", "--tree"]);
    assert_eq!((old.code, &old.stdout), (new.code, &new.stdout));
    let note = "note: `--tree` of `diff` is now called `--tree-only`\n";
    assert_eq!(old.stderr, [note, &new.stderr].concat());
    let quiet = stage.run(["-q", "diff", "first", "first", "--tree"]);
    assert_eq!((quiet.code, &*quiet.stderr), (Some(0), ""));
}
