//! The updaters themselves.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use coldpress_delta::{Cause, Pair, Transfer, Updater, block_hash_index, measure, regions};
use coldpress_image::Image;
use coldpress_layout::Plan;
use coldpress_testkit::{missing, without_peer};

use crate::images::{build, content};

/// Bytes of the file that changes between the images.
const CHANGED_BYTES: usize = 300_000;

/// Two images in a directory: `old`, and `new`, of which a file in the middle is another.
fn pair(directory: &Path) {
    let tree = directory.join("tree");
    fs::create_dir(&tree).unwrap();
    for seed in 0..9 {
        fs::write(tree.join(format!("f{seed}")), content(seed, CHANGED_BYTES)).unwrap();
    }
    build(&tree, &directory.join("old"), &Plan::default(), 9);
    fs::write(tree.join("f4"), content(99, CHANGED_BYTES)).unwrap();
    build(&tree, &directory.join("new"), &Plan::default(), 9);
}

fn ask(updater: Updater, directory: &Path, old: &str, new: &str) -> Transfer {
    let scratch = tempfile::tempdir().unwrap();
    let pair = Pair {
        old: &directory.join(old),
        new: &directory.join(new),
        scratch: scratch.path(),
    };
    measure(updater, pair, &mut || false).unwrap()
}

#[test]
fn each_updater_transfers_what_changed_and_little_more() {
    let stage = tempfile::tempdir().unwrap();
    pair(stage.path());
    let new = stage.path().join("new");
    let new_bytes = fs::metadata(&new).unwrap().len();
    let old = Image::open(&stage.path().join("old")).unwrap();
    let regions = regions(&old, &Image::open(&new).unwrap(), new_bytes, &mut || {
        ControlFlow::Continue(())
    })
    .unwrap();
    for updater in Updater::ALL {
        if updater.demand().is_err() {
            missing("peers", updater.name());
            continue;
        }
        let same = ask(updater, stage.path(), "new", "new");
        assert!(same.parts.is_empty(), "{updater}: {same:?}");
        assert!(same.bytes() < new_bytes / 20, "{updater}: {same:?}");

        let transfer = ask(updater, stage.path(), "old", "new");
        let causes = transfer.by_cause(&regions);
        let sum: u64 = Cause::ALL.iter().map(|cause| causes.of(*cause)).sum();
        assert_eq!(sum, transfer.bytes(), "{updater}");
        // Six bits of eight are left by gzip, or a little more.
        let changed_bytes = CHANGED_BYTES as u64 * 6 / 8;
        assert!(
            (changed_bytes * 9 / 10..changed_bytes * 12 / 10).contains(&causes.content_bytes),
            "{updater}: {causes:?}"
        );
        // The largest chunk of casync has 256 KiB.
        let by_chance = transfer.bytes() - causes.content_bytes;
        assert!(by_chance < 4 * (256 << 10), "{updater}: {causes:?}");
    }
}

/// RAUC makes the index while it makes a bundle, which is an image of its own.
#[test]
fn the_block_hash_index_is_that_of_rauc() {
    let tools = ["rauc", "openssl", "mksquashfs", "unsquashfs"];
    if tools.into_iter().any(without_peer) {
        return;
    }
    let stage = tempfile::tempdir().unwrap();
    pair(stage.path());
    let at = |name: &str| stage.path().join(name);
    fs::create_dir(at("bundle")).unwrap();
    fs::copy(at("new"), at("bundle/image.img")).unwrap();
    let manifest = "[update]\ncompatible=test\n\n[bundle]\nformat=verity\n\n\
                    [image.rootfs]\nfilename=image.img\nadaptive=block-hash-index\n";
    fs::write(at("bundle/manifest.raucm"), manifest).unwrap();
    let run = |words: &str| {
        let mut words = words.split(' ');
        let mut command = Command::new(words.next().unwrap());
        let output = command.args(words).current_dir(stage.path()).output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    };
    run("openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -subj /CN=test");
    run("rauc bundle --cert=cert --key=key bundle update.raucb");
    run("unsquashfs -q -n -d out update.raucb");
    let index = fs::read_dir(at("out"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|it| it == "block-hash-index"))
        .expect("RAUC wrote an index");
    let made = block_hash_index(&at("new"), &mut || false).unwrap();
    assert!(fs::read(index).unwrap() == made, "another index");
}
