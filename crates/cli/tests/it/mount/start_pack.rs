//! Mounts of images with a start pack: the same content, handed over ahead, and an end at any time.

use std::fs;
use std::os::unix::fs::FileExt as _;

use rustix::process::{Pid, Signal, kill_process};

use super::stage::{MountStage, large};
use crate::run::{Session, comes_true};
use crate::skip;

/// Single pages and runs of `/large`, in no order, and a file whose tail end is in a fragment.
const TRACE: &str = "coldpress-trace 1\n10 1 R 100-110 /large\n20 1 R 3-3 /large\n30 1 R 0-0 /directory/file\n40 1 R 60-64 \
                     /large\n50 1 R 125-125 /large\n";
const PAGES: u32 = 11 + 1 + 1 + 5 + 1;

fn packed() -> MountStage {
    let stage = MountStage::new();
    fs::write(stage.at("trace"), TRACE).unwrap();
    let words = [
        "build",
        "image",
        "packed",
        "--profile",
        "trace",
        "--start-pack",
        "+90%",
    ];
    let ran = stage.session.run(words);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let line = format!("{PAGES} of {PAGES} pages of 2 files");
    assert!(ran.stderr.contains(&line), "{}", ran.stderr);
    stage
}

/// Pages that were read from the pack, by what a mount tells at its end.
fn pages(told: &str) -> Option<u32> {
    let line = told
        .lines()
        .find_map(|line| line.strip_prefix("start pack: "))?;
    Some(line.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn an_image_with_a_pack_is_the_image_and_a_pack() {
    let stage = packed();
    stage.session.done(["check", "packed"]);
    let without = stage
        .session
        .run(["build", "image", "ordered", "--profile", "trace"]);
    assert_eq!(without.code, Some(0), "{}", without.stderr);
    let [plain, with] = ["ordered", "packed"].map(|name| fs::read(stage.at(name)).unwrap());
    assert!(with.starts_with(&plain) && with.len() > plain.len());
    let info = stage.session.done(["info", "packed"]).text();
    assert!(info.contains("\nstart pack "), "{info}");
    let dump = stage
        .session
        .done(["dump", "packed", "--part", "start-pack"]);
    let dump = dump.text();
    for what in ["start pack header", "piece table", "pack index", "pages"] {
        let range = format!("start-pack: {what}");
        assert!(dump.contains(&range), "{range}: {dump}");
    }
    // Five runs of pages, and the paths of their files.
    assert_eq!(dump.matches("page_count").count(), 5, "{dump}");
    assert!(dump.contains("/large") && dump.contains("/directory/file"));
    let differing = stage.session.run(["diff", "ordered", "packed"]);
    assert_eq!(differing.code, Some(1), "{}", differing.stderr);
    let told = differing.text();
    let line = format!("start pack: none -> {PAGES} pages of 2 files, ");
    assert!(told.contains(&line), "{told}");
    let mut damaged = with.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(stage.at("damaged"), damaged).unwrap();
    let ran = stage.session.run(["check", "damaged"]);
    assert_eq!(ran.code, Some(1));
    let rule = "the piece does not match its digest";
    assert!(
        ran.text().contains(rule) || ran.stderr.contains(rule),
        "{ran:?}"
    );
}

#[test]
fn a_hash_tree_covers_the_pack_and_is_found_after_it() {
    let stage = packed();
    let words = [
        "build",
        "image",
        "sealed",
        "--profile",
        "trace",
        "--start-pack",
        "1M",
    ];
    let ran = stage
        .session
        .run(words.into_iter().chain(["--verity", "append"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    stage.session.done(["check", "sealed"]);
    let info = stage.session.done(["info", "sealed"]).text();
    assert!(
        info.contains("\nstart pack ") && info.contains("\nhash tree "),
        "{info}"
    );
}

#[test]
fn a_container_of_apptainer_has_the_pack_in_its_partition() {
    let stage = packed();
    let profile = ["--profile", "trace", "--start-pack", "1M"];
    let ran = stage
        .session
        .run(["build", "image", "app.sif"].iter().chain(&profile));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let ran = stage.session.run(
        ["retrofit", "app.sif", "-o", "new.sif"]
            .iter()
            .chain(&profile),
    );
    // No command: nothing is measured.
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    for name in ["app.sif", "new.sif"] {
        let sif = [name, "--offset", "auto"];
        stage.session.done(["check"].iter().chain(&sif));
        let info = stage.session.done(["info"].iter().chain(&sif)).text();
        assert!(info.contains("\nstart pack "), "{info}");
    }
}

#[test]
fn a_pack_needs_a_recording_with_pages_of_the_image() {
    let stage = MountStage::new();
    fs::write(stage.at("other"), "coldpress-trace 1\n10 1 R 0-0 /none\n").unwrap();
    for (profile, expected) in [
        (&[][..], "a start pack needs a recording of the start"),
        (
            &["--profile", "other"],
            "no page of a file of the image is in the recording",
        ),
    ] {
        let words = ["build", "image", "packed", "--start-pack", "1M"];
        let ran = stage.session.run(words.iter().chain(profile));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert!(!stage.at("packed").exists());
    }
}

#[test]
fn pages_of_the_pack_are_handed_over_and_are_those_of_the_files() {
    if skip::without_fuse() {
        return;
    }
    let stage = packed();
    fs::rename(stage.at("packed"), stage.at("image")).unwrap();
    let child = stage.stay(["-q", "--stats"]);
    // Single pages, in an order of their own, before everything.
    let file = fs::File::open(stage.mounted("large")).unwrap();
    for page in [125_usize, 3, 50, 101, 62, 0] {
        let mut bytes = [0; 4096];
        let read = file.read_at(&mut bytes, page as u64 * 4096).unwrap();
        assert!(
            bytes[..read] == large()[page * 4096..][..read],
            "page {page}"
        );
    }
    drop(file);
    assert!(fs::read(stage.mounted("large")).unwrap() == large());
    let content = fs::read(stage.mounted("directory/file")).unwrap();
    assert_eq!(content, b"content\n");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ran = Session::end(child);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(pages(&ran.stderr).unwrap() > 0, "{}", ran.stderr);
}

#[test]
fn a_mount_with_a_pack_ends_at_any_time() {
    if skip::without_fuse() {
        return;
    }
    let stage = packed();
    fs::rename(stage.at("packed"), stage.at("image")).unwrap();
    for _ in 0..10 {
        // While pages are handed over.
        let guard = stage.mount(["-q"]);
        drop(guard);
        let child = stage.stay(["-q"]);
        let reader = std::thread::spawn({
            let path = stage.mounted("large");
            // With the one who answers, the mount ends.
            move || drop(fs::read(path))
        });
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        Session::end(child);
        // Who waits for a page is let go.
        reader.join().unwrap();
        assert!(comes_true(
            || stage.unmount().code == Some(0) || !stage.is_mounted()
        ));
    }
}
