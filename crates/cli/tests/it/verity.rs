//! Hash trees of images: written by `build` and `verity`, verified by `check` and by veritysetup.

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::process::Command;

use crate::run::{Stage, names, program};
use crate::skip::without_peer;

/// A tree of which the image has several data blocks.
fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir(stage.at("source")).unwrap();
    // Noise, so that the image is longer than a data block.
    let words = (0..50_000_u32).map(|number| {
        let mixed = number.wrapping_mul(2_654_435_761);
        (mixed ^ mixed >> 15).wrapping_mul(2_246_822_519)
    });
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    fs::write(stage.at("source/file"), bytes).unwrap();
    stage
}

fn text(stage: &Stage, file: &str) -> String {
    fs::read_to_string(stage.at(file)).unwrap()
}

/// Changes a byte.
fn flip(stage: &Stage, file: &str, at: u64) {
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(stage.at(file))
        .unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[!byte[0]], at).unwrap();
}

#[test]
fn build_writes_the_tree_beside_the_image_or_behind_it() {
    let stage = stage();
    stage.done(["-q", "build", "source", "plain"]);
    let plain = fs::read(stage.at("plain")).unwrap();

    let ran = stage.done(["-q", "build", "source", "app.raw", "--verity", "sidecar"]);
    assert_eq!(fs::read(stage.at("app.raw")).unwrap(), plain);
    assert_eq!(ran.text(), format!("{}\n", text(&stage, "app.roothash")));
    assert_eq!(text(&stage, "app.roothash").len(), 64);

    let append = ["--verity", "append", "--roothash", "root"];
    stage.done([&["-q", "build", "source", "behind"][..], &append].concat());
    let behind = fs::read(stage.at("behind")).unwrap();
    let (image, tree) = behind.split_at(plain.len());
    assert!(image == plain && tree == fs::read(stage.at("app.verity")).unwrap());
    // The same data have the same salt, so the same tree wherever it is.
    assert_eq!(text(&stage, "root"), text(&stage, "app.roothash"));

    // Of an image that exists, with another tree behind it or none.
    fs::set_permissions(stage.at("plain"), Permissions::from_mode(0o640)).unwrap();
    let json = stage
        .done(["-q", "verity", "plain", "append", "--json"])
        .json();
    assert_eq!(json["root_hash"], text(&stage, "root"));
    assert_eq!(fs::read(stage.at("plain")).unwrap(), behind);
    let mode = fs::metadata(stage.at("plain"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    stage.done([
        "-q",
        "verity",
        "plain",
        "append",
        "--verity-data-block",
        "64K",
    ]);
    assert_ne!(fs::read(stage.at("plain")).unwrap(), behind);
    let ran = stage.done(["-q", "verity", "plain", "append"]);
    assert_eq!(ran.text(), format!("{}\n", text(&stage, "root")));
    assert_eq!(fs::read(stage.at("plain")).unwrap(), behind);
    let expected = [
        "app.raw",
        "app.roothash",
        "app.verity",
        "behind",
        "plain",
        "root",
        "source",
    ];
    assert_eq!(names(stage.directory()), expected);
}

#[test]
fn check_verifies_against_the_root_hash_and_names_the_first_wrong_block() {
    let stage = stage();
    let build = ["-q", "build", "source"];
    stage.done([&build[..], &["app.raw", "--verity", "sidecar"]].concat());
    stage.done([&build[..], &["app", "--verity", "append"]].concat());
    let root_hash = text(&stage, "app.roothash");
    fs::rename(stage.at("app.verity"), stage.at("tree")).unwrap();
    fs::copy(stage.at("tree"), stage.at("app.verity")).unwrap();
    for args in [
        &["app.raw", "--roothash", "app.roothash"][..],
        &["app.raw", "--roothash", &root_hash],
        &["app.raw", "--roothash", &root_hash, "--hash-tree", "tree"],
        &["app", "--roothash", &root_hash],
        &["app"],
    ] {
        let ran = stage.done([&["check", "--json"], args].concat());
        let json = ran.json();
        assert_eq!(json["problems"], serde_json::json!([]), "{args:?}");
        let verified = args.contains(&"--roothash").then_some(true);
        assert_eq!(json["verified"].as_bool(), verified, "{args:?}");
    }

    flip(&stage, "app", 5000);
    let ran = stage.run(["-q", "check", "app", "--roothash", &root_hash]);
    assert_eq!(ran.code, Some(1));
    let wrong = "data block 1 at byte 4096 does not have the hash that the hash tree says\n";
    assert!(ran.text().starts_with(wrong), "{}", ran.text());
    let ran = stage.run(["check", "app.raw", "--json", "--roothash", &"0".repeat(64)]);
    assert_eq!(
        (ran.code, ran.json()["verified"].as_bool()),
        (Some(1), Some(false))
    );

    // An image that is longer than what has hashes.
    stage.done([&build[..], &["short", "--exclude", "file"]].concat());
    let ran = stage.done(["-q", "verity", "short", "sidecar"]);
    let short = ran.text();
    let args = [
        "-q",
        "check",
        "app.raw",
        "--hash-tree",
        "short.verity",
        "--roothash",
    ];
    let ran = stage.run([&args[..], &[short.trim()]].concat());
    assert!(
        ran.text()
            .starts_with("the hash tree has no hashes of the image from byte 4096 on\n")
    );
}

#[test]
fn what_cannot_be_verified_is_told() {
    let stage = stage();
    stage.done(["-q", "build", "source", "image"]);
    let zeros = "0".repeat(64);
    fs::write(stage.at("empty"), "").unwrap();
    stage.done(["-q", "build", "source", "odd", "--no-padding"]);
    for (args, sentence) in [
        (
            &["check", "image", "--roothash", &zeros][..],
            "error: `image` has no hash tree: nothing is appended to it, and there is no \
             `image.verity`; name the file with the hash tree\n",
        ),
        (
            &["check", "image", "--roothash", "empty"],
            "error: `empty` has no root hash: a root hash has pairs of hexadecimal digits, 64 of \
             them for sha256\n",
        ),
        (
            &[
                "check",
                "image",
                "--roothash",
                &zeros,
                "--hash-tree",
                "empty",
            ],
            "error: cannot read the hash tree in `empty`: the hash tree ends at byte 0, but must \
             reach to byte 512\n",
        ),
        (
            &["verity", "empty", "sidecar"],
            "error: `empty` is not a SquashFS image: it has 0 bytes, the first structure alone \
             takes 96\n\nhint: none begins in its first 64 MiB either, as it would in an AppImage\n",
        ),
    ] {
        let ran = stage.run(args);
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (Some(2), sentence),
            "{args:?}"
        );
    }
    let ran = stage.run(["verity", "odd", "sidecar"]);
    assert!(
        ran.stderr.contains("must have a multiple of 4096"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("append the hash tree, which fills the image"),
        "{}",
        ran.stderr
    );
    // Nothing is left of what failed.
    let expected = ["empty", "image", "odd", "source"];
    assert_eq!(names(stage.directory()), expected);
}

#[test]
fn info_and_doctor_know_an_appended_tree() {
    let stage = stage();
    stage.done(["-q", "build", "source", "image", "--verity", "append"]);
    let parts = stage.done(["info", "image", "--json"]).json()["parts"].clone();
    let last = parts.as_array().unwrap().last().unwrap();
    let bytes = fs::metadata(stage.at("image")).unwrap().len();
    assert_eq!(last["name"], "hash tree");
    let (start, size_bytes) = (last["start"].as_u64(), last["size_bytes"].as_u64());
    assert_eq!(start.unwrap() + size_bytes.unwrap(), bytes);
    fs::write(
        stage.at("config"),
        "CONFIG_SQUASHFS=y\nCONFIG_SQUASHFS_ZSTD=y\n",
    )
    .unwrap();
    let ran = stage.done(["doctor", "image", "--target", "config"]);
    assert!(ran.text().contains("hash tree: "), "{}", ran.text());
    let ran = stage.done(["doctor", "--target", "config"]);
    assert!(
        ran.text().contains("dm-verity          no\n"),
        "{}",
        ran.text()
    );
}

#[test]
fn a_tree_that_lies_is_no_part_of_a_prediction_that_leaves_it_out() {
    let stage = stage();
    stage.done(["-q", "build", "source", "image", "--verity", "append"]);
    let parts = stage.done(["info", "image", "--json"]).json()["parts"].clone();
    let tree = parts.as_array().unwrap().last().unwrap();
    // The size of data blocks in the tree's superblock.
    flip(&stage, "image", tree["start"].as_u64().unwrap() + 64);
    fs::write(
        stage.at("start.trace"),
        "coldpress-trace 1\n0 1 R 0-0 /file\n",
    )
    .unwrap();
    let words = ["-q", "predict", "image", "--trace", "start.trace"];
    let ran = stage.run(words);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("`--verity none`"), "{}", ran.stderr);
    stage.done([&words[..], &["--verity", "none"]].concat());
}

#[test]
fn veritysetup_verifies_what_is_written() {
    if without_peer("veritysetup") {
        return;
    }
    let stage = stage();
    let build = ["-q", "build", "source"];
    stage.done([&build[..], &["app.raw", "--verity", "sidecar"]].concat());
    let more = [
        "app",
        "--verity",
        "append",
        "--verity-hash",
        "sha512",
        "--verity-salt",
        "random",
    ];
    let root_hash = stage.done([&build[..], &more].concat()).text();
    let verify = |args: &[&str]| {
        let mut command = Command::new("veritysetup");
        program(
            command
                .arg("verify")
                .args(args)
                .current_dir(stage.directory()),
        );
    };
    verify(&["app.raw", "app.verity", &text(&stage, "app.roothash")]);
    let bytes = fs::metadata(stage.at("app.raw")).unwrap().len();
    verify(&[
        "app",
        "app",
        root_hash.trim(),
        &format!("--hash-offset={bytes}"),
    ]);
}
