//! Images that are built from images: blocks that are copied, and what comes out.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run::Stage;
use crate::skip;

/// Files of a few blocks and tails, compressible.
fn tree(stage: &Stage) {
    for directory in ["source", "source/lib"] {
        fs::create_dir(stage.at(directory)).unwrap();
    }
    for (name, lines) in [
        ("big", 40_000),
        ("lib/a", 300),
        ("lib/b", 5_000),
        ("lib/c", 7),
    ] {
        let mut text = String::new();
        for line in 0..lines {
            writeln!(text, "{name} {}", line * line).unwrap();
        }
        fs::write(stage.at("source").join(name), text).unwrap();
    }
}

/// Bytes that a build says it copied.
fn copied(ran: &crate::run::Ran) -> u64 {
    ran.json()["copied_bytes"].as_u64().unwrap()
}

#[test]
fn reuse_copies_what_did_not_change_and_gives_the_image_of_a_full_build() {
    let stage = Stage::new();
    tree(&stage);
    for options in [
        &["-b", "16K"][..],
        &["-c", "gzip", "-b", "16K", "--tails", "all"],
    ] {
        let build = |image: &str, more: &[&str]| {
            stage.done([&["build", "--json", "source", image][..], options, more].concat())
        };
        build("old", &[]);
        let text = fs::read_to_string(stage.at("source/lib/b")).unwrap();
        fs::write(
            stage.at("source/lib/b"),
            text.replacen("lib/b 100\n", "changed, and longer\n", 1),
        )
        .unwrap();
        fs::write(stage.at("source/lib/new"), "a new file").unwrap();
        build("full", &[]);
        let ran = build("again", &["--reuse", "old"]);
        assert!(copied(&ran) > 400_000, "{}", copied(&ran));
        assert_eq!(
            fs::read(stage.at("full")).unwrap(),
            fs::read(stage.at("again")).unwrap()
        );
        // The image that is replaced may be the one that is reused.
        let ran = build("again", &["--reuse", "again"]);
        assert!(copied(&ran) > 400_000);
        assert_eq!(
            fs::read(stage.at("full")).unwrap(),
            fs::read(stage.at("again")).unwrap()
        );
        fs::remove_file(stage.at("source/lib/new")).unwrap();
        fs::write(stage.at("source/lib/b"), text).unwrap();
    }
}

#[test]
fn an_image_of_other_settings_is_not_reused_and_that_is_told() {
    let stage = Stage::new();
    tree(&stage);
    stage.done(["-q", "build", "source", "old", "-l", "3"]);
    stage.done(["-q", "build", "source", "full", "-l", "9"]);
    for (old, options, expected) in [
        ("missing", &["-l", "9"][..], "there is no such file"),
        ("old", &["-l", "9"], "it was built with zstd"),
        ("old", &["-c", "xz"], "it was built with zstd"),
        ("old", &["-l", "3", "-b", "64K"], "blocks of 131072 bytes"),
    ] {
        let ran = stage.run([&["build", "source", "image", "--reuse", old][..], options].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stderr.contains("is reused: "), "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    stage.done([
        "-q", "build", "source", "image", "--reuse", "old", "-l", "9",
    ]);
    assert_eq!(
        fs::read(stage.at("full")).unwrap(),
        fs::read(stage.at("image")).unwrap()
    );
    // Nothing that an image records tells these levels apart.
    stage.done(["-q", "build", "source", "old", "-c", "xz", "-l", "1"]);
    let ran = stage.run([
        "build", "source", "image", "-c", "xz", "-l", "6", "--reuse", "old",
    ]);
    assert!(
        ran.stderr.contains("another level or by another tool"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_image_is_built_again_from_an_image_without_being_unpacked() {
    let stage = Stage::new();
    tree(&stage);
    stage.done(["-q", "build", "source", "old", "-c", "gzip", "-b", "16K"]);
    // With its own settings: blocks are copied, and the image is the same.
    let ran = stage.done(["build", "--json", "--verify", "old", "same"]);
    assert!(copied(&ran) > 400_000);
    assert_eq!(
        fs::read(stage.at("old")).unwrap(),
        fs::read(stage.at("same")).unwrap()
    );
    // With others: what is in it is compressed anew, as from the directory.
    stage.done([
        "-q", "build", "old", "other", "-c", "xz", "-b", "64K", "--verify",
    ]);
    stage.done(["-q", "build", "source", "expected", "-c", "xz", "-b", "64K"]);
    assert_eq!(
        fs::read(stage.at("other")).unwrap(),
        fs::read(stage.at("expected")).unwrap()
    );
    // With files on top.
    fs::create_dir(stage.at("more")).unwrap();
    fs::write(stage.at("more/file"), "on top").unwrap();
    stage.done(["-q", "build", "old", "more", "both"]);
    assert_eq!(stage.done(["cat", "both", "/more/file"]).text(), "on top");
    let a = fs::read_to_string(stage.at("source/lib/a")).unwrap();
    assert_eq!(stage.done(["cat", "both", "/lib/a"]).text(), a);
}

#[test]
fn an_image_at_an_offset_or_without_padding_is_the_same_image() {
    let stage = Stage::new();
    tree(&stage);
    stage.done(["-q", "build", "source", "plain"]);
    stage.done([
        "-q", "build", "source", "offset", "--offset", "5000", "--verify",
    ]);
    stage.done(["-q", "build", "source", "short", "--no-padding"]);
    let [plain, offset, short] =
        ["plain", "offset", "short"].map(|name| fs::read(stage.at(name)).unwrap());
    assert_eq!(offset[5000..], plain);
    assert_eq!(offset[..5000], [0; 5000]);
    assert!(short.len() < plain.len() && plain.starts_with(&short));
}

#[test]
fn a_plan_packs_single_blocks_as_it_says() {
    let stage = Stage::new();
    tree(&stage);
    stage.done(["-q", "build", "source", "plain", "-b", "16K"]);
    let stored = |plan: &str| {
        fs::write(stage.at("plan"), plan).unwrap();
        let ran = stage.done([
            "build", "--json", "source", "image", "-b", "16K", "--plan", "plan", "--verify",
        ]);
        ran.json()["data_stored_bytes"].as_u64().unwrap()
    };
    let first = "coldpress-plan 1";
    let default = stored(&format!("{first}\n"));
    let one = stored(&format!("{first}\n\n[packing]\nstored 1 /big\n"));
    let all = stored(&format!("{first}\n\n[packing]\nstored /big\n"));
    let fast = stored(&format!("{first}\n\n[packing]\nlevel 1 /big\n"));
    let big = fs::metadata(stage.at("source/big")).unwrap().len();
    assert!(default < one && one < default + 16_384, "{default} {one}");
    assert!(
        all > big && default < fast && fast < all,
        "{default} {fast} {all}"
    );
    fs::write(
        stage.at("plan"),
        format!("{first}\n\n[packing]\nlevel 99 /big\n"),
    )
    .unwrap();
    let ran = stage.run(["build", "source", "image", "--plan", "plan"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("level 99"), "{}", ran.stderr);
}

/// A loop device, which goes again.
struct Loop(String);

impl Loop {
    fn of(file: &Path) -> Self {
        let mut losetup = Command::new("losetup");
        let output = losetup.args(["--find", "--show", "--read-only"]).arg(file);
        let output = output.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        Self(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

#[test]
fn a_block_device_is_a_node_with_a_warning_or_the_image_on_it() {
    if skip::without_root() || skip::without_kernel() || skip::without_peer("losetup") {
        return;
    }
    let stage = Stage::new();
    tree(&stage);
    stage.done(["-q", "build", "source", "image"]);
    let device = Loop::of(&stage.at("image"));
    let node = stage.done(["-q", "build", &device.0, "node"]);
    let warning = format!(
        "warning: `{}` is stored as a device node; --source-image takes the image on it\n",
        device.0
    );
    assert_eq!(node.stderr, warning);
    std::os::unix::fs::symlink(&device.0, stage.at("link")).unwrap();
    for source in [device.0.as_str(), "link"] {
        let again = stage.done(["-q", "build", "--source-image", source, "again"]);
        assert_eq!(again.stderr, "");
        assert_eq!(
            fs::read(stage.at("image")).unwrap(),
            fs::read(stage.at("again")).unwrap()
        );
    }
}
