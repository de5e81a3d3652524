//! Images of several tools: `identify` finds the tool, the compressor and its level; `resquash`
//! makes them again.

mod killed;

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::diff::text;
use crate::run::{Stage, program};
use crate::skip;

/// A directory `source` whose shape and content tell tools and levels apart.
fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir_all(stage.at("source/dir/below")).unwrap();
    fs::create_dir_all(stage.at("source/other")).unwrap();
    for (name, bytes) in [
        ("a", text(1, 200_000)),
        ("dir/b", text(2, 150_000)),
        ("dir/below/c", text(3, 60_000)),
        ("other/d", text(4, 3000)),
    ] {
        fs::write(stage.at("source").join(name), bytes).unwrap();
    }
    stage
}

fn mksquashfs(stage: &Stage, options: &str) {
    let mut command = Command::new("mksquashfs");
    command.args(["source", "image", "-noappend", "-quiet", "-no-progress"]);
    command.args(options.split_whitespace());
    program(command.current_dir(stage.directory()));
}

fn coldpress(stage: &Stage, options: &str) {
    let args = ["-q", "build", "source", "image"].into_iter();
    stage.done(args.chain(options.split_whitespace()));
}

fn gensquashfs(stage: &Stage, options: &str) {
    let mut command = Command::new("gensquashfs");
    command.args(["-q", "-f", "-D", "source", "image"]);
    command.args(options.split_whitespace());
    program(command.current_dir(stage.directory()));
}

fn identify(stage: &Stage) -> Value {
    stage.done(["-q", "identify", "image", "--json"]).json()
}

/// Tool, library, level of a report, and that all blocks matched.
fn assert_found(report: &Value, tool: &str, library: &str, level: i32, what: &str) {
    assert_eq!(report["tool"], tool, "{what}: {report}");
    assert_eq!(report["library"], library, "{what}: {report}");
    assert_eq!(report["level"], level, "{what}: {report}");
    assert_eq!(report["blocks_matched"], report["blocks_sampled"], "{what}");
    assert_ne!(report["blocks_sampled"], 0, "{what}");
}

#[test]
fn images_of_mksquashfs_are_known_with_library_and_level() {
    if skip::without_peer("mksquashfs") {
        return;
    }
    let stage = stage();
    for (options, library, level) in [
        ("", "zlib", 9),
        ("-Xcompression-level 1", "zlib", 1),
        ("-Xcompression-level 6 -b 1M", "zlib", 6),
        ("-Xwindow-size 9 -no-fragments", "zlib", 9),
        ("-Xstrategy huffman_only,filtered", "zlib", 9),
        ("-comp xz", "liblzma, whole blocks", 6),
        ("-comp xz -b 64K -Xbcj x86,arm", "liblzma, whole blocks", 6),
        (
            "-comp xz -Xdict-size 50% -no-fragments",
            "liblzma, whole blocks",
            6,
        ),
        ("-comp lz4", "lz4", 0),
        ("-comp lz4 -Xhc -b 4K", "lz4 HC", 12),
    ] {
        mksquashfs(&stage, options);
        assert_found(&identify(&stage), "mksquashfs", library, level, options);
    }
}

#[test]
fn images_of_coldpress_are_known_with_library_and_level() {
    let stage = stage();
    for (options, library, level) in [
        ("--compressor gzip", "libdeflate", 9),
        (
            "--compressor gzip --level 12 --tails none",
            "libdeflate",
            12,
        ),
        ("--compressor gzip --level 4", "libdeflate", 4),
        ("--compressor gzip --gzip-window 10", "zlib-rs", 9),
        ("--compressor xz", "liblzma, streaming", 6),
        ("--compressor xz --level 1", "liblzma, streaming", 1),
        ("--compressor lzo", "the LZO encoder of coldpress", 8),
        (
            "--compressor lzo --level 0",
            "the LZO encoder of coldpress",
            0,
        ),
        ("--compressor lz4 --level 7", "lz4 HC", 7),
        ("", "libzstd", 15),
        ("--level 3 --block-size 32K", "libzstd", 3),
        ("--level=-5", "libzstd", -5),
    ] {
        coldpress(&stage, options);
        assert_found(&identify(&stage), "coldpress", library, level, options);
    }
}

#[test]
fn images_of_squashfs_tools_ng_are_known() {
    if skip::without_peer("gensquashfs") || skip::without_peer("tar2sqfs") {
        return;
    }
    let stage = stage();
    for (options, library, level) in [
        ("-c gzip", "zlib", 9),
        ("-c gzip -X level=3", "zlib", 3),
        ("-c xz", "liblzma, whole blocks", 6),
    ] {
        gensquashfs(&stage, options);
        let report = identify(&stage);
        assert_found(&report, "gensquashfs or tar2sqfs", library, level, options);
    }
    // Only tar2sqfs knows hard links.
    fs::hard_link(stage.at("source/a"), stage.at("source/hard")).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "tar -C source -c . | tar2sqfs -q -f -c gzip image"]);
    program(shell.current_dir(stage.directory()));
    assert_found(&identify(&stage), "tar2sqfs", "zlib", 9, "tar2sqfs");
}

#[test]
fn what_cannot_be_told_is_said_to_be_unknown() {
    let stage = stage();
    coldpress(&stage, "--compressor none");
    let text = stage.done(["-q", "identify", "image"]).text();
    assert!(text.contains("no block of data is compressed"), "{text}");
    if !skip::without_peer("mksquashfs") {
        mksquashfs(&stage, "-comp lzo -Xcompression-level 5");
        let report = identify(&stage);
        assert_eq!(report["library"], Value::Null, "{report}");
        assert_eq!(
            (&report["recorded_level"], &report["tool"]),
            (&5.into(), &"mksquashfs".into())
        );
    }
    fs::remove_dir_all(stage.at("source")).unwrap();
    fs::create_dir(stage.at("source")).unwrap();
    coldpress(&stage, "");
    assert_eq!(identify(&stage)["tool"], "mksquashfs or coldpress");
}

fn resquash(stage: &Stage, options: &[&str]) -> (Option<i32>, Value) {
    let mut args = vec!["-q", "resquash", "image", "--json"];
    args.extend(options);
    let ran = stage.run(args);
    assert_eq!(ran.stderr, "");
    (ran.code, ran.json())
}

#[test]
fn images_of_coldpress_come_out_the_same() {
    let stage = stage();
    fs::hard_link(stage.at("source/a"), stage.at("source/hard")).unwrap();
    fs::copy(stage.at("source/dir/b"), stage.at("source/copy")).unwrap();
    for options in [
        "",
        "--compressor gzip --level 5 --tails all",
        "--compressor xz --block-size 64K --no-export --no-padding",
        "--compressor lzo --tails none --no-duplicates --xattr-add user.x=1",
        "--compressor none",
        "--store inodes,data --compressor lz4",
        "--image-time 5 --uid 3",
    ] {
        coldpress(&stage, options);
        let (code, report) = resquash(&stage, &[]);
        assert_eq!(code, Some(0), "{options}: {report}");
        assert_eq!(report["verdict"], "same", "{options}");
    }
}

#[test]
fn an_image_of_a_plan_is_told_by_the_order_of_its_data() {
    let stage = stage();
    let plan = "coldpress-plan 1\n[data]\nblocks /dir/b\n";
    fs::write(stage.at("plan"), plan).unwrap();
    coldpress(&stage, "--compressor gzip --plan plan");
    let (code, report) = resquash(&stage, &[]);
    assert_eq!(code, Some(1));
    assert_eq!(report["verdict"], "different", "{report}");
    let reasons = report["reasons"].to_string();
    assert!(reasons.contains("in another order after"), "{reasons}");
}

#[test]
fn images_of_mksquashfs_come_out_the_same() {
    if skip::without_peer("mksquashfs") || skip::without_root() {
        return;
    }
    let stage = stage();
    for options in [
        "",
        "-comp xz -b 64K -no-fragments -no-exports",
        "-comp lzo -Xcompression-level 5 -nopad",
        "-comp zstd -Xcompression-level 3 -always-use-fragments",
        "-comp lz4 -Xhc -noI -no-duplicates -all-root -mkfs-time 5",
    ] {
        mksquashfs(&stage, options);
        let (code, report) = resquash(&stage, &[]);
        assert_eq!(code, Some(0), "{options}: {report}");
    }
}

/// Makes `image` of what a shell command prints, a tar archive of `source`.
fn tar2sqfs(stage: &Stage, archive: &str, options: &str) {
    let line = format!("cd source && {archive} | tar2sqfs -q -f {options} ../image");
    let mut shell = Command::new("sh");
    program(shell.args(["-c", &line]).current_dir(stage.directory()));
}

#[test]
fn images_of_squashfs_tools_ng_come_out_the_same() {
    if skip::without_peer("gensquashfs") || skip::without_peer("tar2sqfs") {
        return;
    }
    let stage = stage();
    let sparse = fs::File::create(stage.at("source/dir/sparse")).unwrap();
    sparse.set_len(3_000_000).unwrap();
    std::os::unix::fs::symlink("b", stage.at("source/dir/link")).unwrap();
    for options in [
        "-c gzip",
        "-c gzip -k -X level=3,window=12,huffman,filtered -e",
        "-c xz -k -b 64K -T",
        "-c xz -X level=3,dictsize=32K,x86 -d mtime=5",
        "-c lzo -X level=5 -u 3",
        "-c lz4 -X hc -d mtime=77 -k",
        "-c zstd -X level=4",
    ] {
        gensquashfs(&stage, options);
        let (code, report) = resquash(&stage, &[]);
        assert_eq!(code, Some(0), "{options}: {report}");
        assert_eq!(report["made_by"], "tar2sqfs (squashfs-tools-ng) 1.2.0");
    }
    fs::hard_link(stage.at("source/a"), stage.at("source/other/hard")).unwrap();
    let (sorted, odd) = ("tar --sort=name -c .", "tar -c other a dir");
    for (archive, options, code) in [
        (sorted, "-c gzip", 0),
        (sorted, "-c xz -e -T -k", 0),
        // The root directory is that of the defaults.
        (odd, "-c gzip -d mtime=9,uid=4,mode=0711", 1),
    ] {
        tar2sqfs(&stage, archive, options);
        let (found, report) = resquash(&stage, &[]);
        assert_eq!(found, Some(code), "{archive} {options}: {report}");
        let reasons = report["reasons"].to_string();
        assert_eq!(
            reasons.contains("in another order after"),
            code == 1,
            "{reasons}"
        );
        assert_eq!(
            reasons.contains("an archive in another order"),
            code == 1,
            "{reasons}"
        );
    }
}

#[test]
fn the_two_programs_of_squashfs_tools_ng_are_told_apart_where_they_differ() {
    if skip::without_peer("gensquashfs") || skip::without_peer("tar2sqfs") {
        return;
    }
    let stage = stage();
    let tool = || identify(&stage)["tool"].as_str().unwrap().to_owned();
    gensquashfs(&stage, "-c gzip -k");
    assert_eq!(tool(), "gensquashfs or tar2sqfs");
    // An archive that says nothing of the root, and one that does.
    tar2sqfs(&stage, "tar -c a dir other", "-c gzip");
    assert_eq!(tool(), "gensquashfs or tar2sqfs");
    tar2sqfs(&stage, "tar -c .", "-c gzip");
    assert_eq!(tool(), "tar2sqfs");
    let report = identify(&stage);
    assert_eq!(report["command"], "tar2sqfs -c gzip IMAGE < TAR");
    gensquashfs(
        &stage,
        "-c xz -k -b 64K -T -e -d mtime=5 -X dictsize=32K,level=2",
    );
    let line =
        "gensquashfs -D DIR -c xz -b 65536 -X dictsize=32768,level=2 -d mtime=5 -e -T -k IMAGE";
    assert_eq!(identify(&stage)["command"], line);
    // How a tool is called can be found in its image only if that leaves a trace.
    gensquashfs(&stage, "-c lzo");
    assert_eq!(identify(&stage)["library"], Value::Null);
}

#[test]
fn the_rules_of_the_snap_store_are_told_from_each_other() {
    if skip::without_peer("mksquashfs") {
        return;
    }
    let stage = stage();
    let rules = ["--rules", "snap-store"];
    let kept = "-comp xz -no-fragments -no-xattrs -all-root";
    for (options, verdict, reason) in [
        (kept, "same", ""),
        ("-comp lzo -no-fragments -no-xattrs -all-root", "same", ""),
        (
            "-comp zstd -no-fragments",
            "refused",
            "compressed by zstd, must be by xz or lzo",
        ),
        ("-comp xz", "refused", ", must have none"),
        (
            "-comp xz -no-fragments -no-xattrs -all-root -b 256K",
            "different",
            "block size: 262144 -> 131072",
        ),
        (
            "-comp xz -no-fragments -no-xattrs -all-root -Xdict-size 50%",
            "different",
            "compressor options",
        ),
        (
            "-comp xz -no-fragments -no-xattrs -force-uid 5",
            "different",
            "/a: owner 5 -> 0",
        ),
    ] {
        mksquashfs(&stage, options);
        let (code, report) = resquash(&stage, &rules);
        assert_eq!(report["verdict"], verdict, "{options}: {report}");
        assert_eq!(code, Some(i32::from(verdict != "same")), "{options}");
        assert!(report["reasons"].to_string().contains(reason), "{report}");
        let command = report["command"].as_str().unwrap();
        assert!(
            command.ends_with("-all-root -no-xattrs -no-fragments"),
            "{command}"
        );
    }
    let left = fs::read_dir(stage.directory()).unwrap().count();
    assert_eq!(left, 2, "source and image");
}

#[test]
fn what_cannot_be_made_again_is_said() {
    type Make = fn(&Stage);
    let stage = stage();
    let makers: [(&str, Make); 2] = [
        ("mksquashfs", |stage| mksquashfs(stage, "")),
        ("gensquashfs", |stage| gensquashfs(stage, "-c gzip")),
    ];
    for (peer, make) in makers {
        if skip::without_peer(peer) {
            continue;
        }
        make(&stage);
        let mut command = crate::run::command();
        command.args(["-q", "resquash", "image", "--json"]);
        command
            .current_dir(stage.directory())
            .env("PATH", "/nonexistent");
        let output = command.output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["verdict"], "unknown", "{report}");
    }
}
