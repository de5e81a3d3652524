//! `build --stable-from`: what did not change stays where it was.

use std::fs;
use std::os::unix::fs::symlink;

use coldpress_testkit::without_peer;

use crate::diff::text;
use crate::run::{Stage, program};

/// A directory `first` with large and small files, and `second`, in which some are others.
fn stage() -> Stage {
    let stage = Stage::new();
    for (tree, changed) in [("first", 0), ("second", 100)] {
        fs::create_dir(stage.at(tree)).unwrap();
        for seed in 0..12 {
            let is_changed = seed == 5;
            let seed_now = if is_changed { seed + changed } else { seed };
            let large = text(seed_now, 150_000 + 1000 * seed as usize);
            fs::write(stage.at(format!("{tree}/large{seed:02}")), large).unwrap();
            for small in 0..8 {
                let number = 1000 + 8 * seed + small;
                let number_now = if is_changed && small == 0 {
                    number + changed
                } else {
                    number
                };
                let path = stage.at(format!("{tree}/small{number}"));
                fs::write(path, text(number_now, 3000)).unwrap();
            }
        }
        symlink("large01", stage.at(tree).join("link")).unwrap();
    }
    fs::remove_file(stage.at("second/large08")).unwrap();
    fs::write(stage.at("second/added"), text(77, 90_000)).unwrap();
    let first: Vec<_> = fs::read_dir(stage.at("first")).unwrap().collect();
    assert!(first.len() > 100);
    stage
}

fn build(stage: &Stage, tree: &str, image: &str, options: &[&str]) {
    let mut args = vec![
        "-q",
        "build",
        tree,
        image,
        "-b",
        "64K",
        "--inode-time=7",
        "--verify",
    ];
    args.extend(options);
    stage.done(args);
}

fn bytes(stage: &Stage, image: &str) -> Vec<u8> {
    fs::read(stage.at(image)).unwrap()
}

/// Bytes that RAUC transfers from one image to another.
fn by_rauc(stage: &Stage, old: &str, new: &str) -> u64 {
    let report = stage.done(["-q", "diff", old, new, "--json", "--delta", "rauc"]);
    report.json()["updaters"][0]["bytes"].as_u64().unwrap()
}

#[test]
fn updates_are_small_and_images_right() {
    let stage = stage();
    build(&stage, "first", "old", &[]);
    build(&stage, "second", "plain", &[]);
    let stable = ["--stable-from", "old", "--align", "4K"];
    build(&stage, "second", "stable", &stable);
    let (plain, small) = (
        by_rauc(&stage, "old", "plain"),
        by_rauc(&stage, "old", "stable"),
    );
    assert!(small * 2 < plain, "{small} of {plain}");
    let check = stage.done(["check", "stable"]);
    assert!(check.stderr.contains("sound"), "{}", check.stderr);

    // Whatever else copies blocks, and with any number of threads.
    let both = [&stable[..], &["--reuse", "old", "--threads", "1"]].concat();
    build(&stage, "second", "both", &both);
    assert!(bytes(&stage, "both") == bytes(&stage, "stable"));
    let zero = [&stable[..], &["--stability", "0"]].concat();
    build(&stage, "second", "zero", &zero);
    assert!(bytes(&stage, "zero") == bytes(&stage, "plain"));
    let same = ["--stable-from", "old", "--stability", "1"];
    build(&stage, "first", "same", &same);
    assert!(bytes(&stage, "same") == bytes(&stage, "old"));
}

#[test]
fn an_image_of_another_tool_is_kept_too() {
    if without_peer("mksquashfs") {
        return;
    }
    let stage = stage();
    let mut mksquashfs = std::process::Command::new("mksquashfs");
    mksquashfs.args([
        "first",
        "old",
        "-b",
        "64K",
        "-comp",
        "gzip",
        "-quiet",
        "-no-progress",
    ]);
    program(mksquashfs.current_dir(stage.directory()));
    let gzip = ["-c", "gzip"];
    build(&stage, "second", "plain", &gzip);
    let stable = [&gzip[..], &["--stable-from", "old", "--align", "4K"]].concat();
    build(&stage, "second", "stable", &stable);
    // Its blocks are others than coldpress makes.
    let (plain, small) = (
        by_rauc(&stage, "old", "plain"),
        by_rauc(&stage, "old", "stable"),
    );
    assert!(small * 2 < plain, "{small} of {plain}");
}

#[test]
fn what_cannot_be_kept_is_refused_and_nothing_is_written() {
    let stage = stage();
    build(&stage, "first", "old", &[]);
    fs::write(stage.at("text"), "no image".repeat(99)).unwrap();
    let mut damaged = bytes(&stage, "old");
    // The head of the first block.
    damaged[104..116].fill(0xff);
    fs::write(stage.at("damaged"), damaged).unwrap();
    let cases = [
        ("missing", "", "No such file"),
        ("text", "", "is not a SquashFS image"),
        ("damaged", "", "cannot compare `damaged` with the sources"),
        (
            "old",
            "-c=gzip",
            "nothing of `old` can stay as it is: it was built with",
        ),
        ("old", "--stability=2", "it must be a number from 0 to 1"),
        ("old", "--align=3K", "it must be a power of two"),
        ("old", "--align=2M", "it must be a power of two"),
        ("old", "--align=0", "it must be a power of two"),
    ];
    for (old, option, said) in cases {
        let mut args = vec!["build", "second", "out", "-b", "64K", "--stable-from", old];
        args.extend(Some(option).filter(|option| !option.is_empty()));
        let ran = stage.run(args);
        assert_eq!(ran.code, Some(2), "{old} {option}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{old} {option}: {}", ran.stderr);
        assert!(!stage.at("out").exists(), "{old} {option}");
    }
}
