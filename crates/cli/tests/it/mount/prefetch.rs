//! Prefetching by a profile, and what a mount tells of its use.

use std::fs;
use std::io::{BufRead as _, BufReader};

use rustix::process::{Pid, Signal, kill_process};

use super::stage::{MountStage, large};
use crate::run::Session;
use crate::skip;

/// Of everything that the stage's image has, and of something else.
const PROFILE: &str = "coldpress-profile 1\n# recordings: 2\nR 100-130,0-99 /large\nR 0 /directory/file\n\
                       R 7*1 /directory/file\nR 0 /none\n";

/// Standard error of a mount all of which was read.
fn told(stage: &MountStage, args: &[&str]) -> String {
    let child = stage.stay(args);
    assert!(fs::read(stage.mounted("large")).unwrap() == large());
    let file = fs::read(stage.mounted("directory/file")).unwrap();
    assert_eq!(file, b"content\n");
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let ran = Session::end(child);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stderr
}

/// How many blocks were prefetched, and how many of them were used.
fn prefetched(told: &str) -> Option<(u32, u32)> {
    let line = told.lines().find(|line| line.starts_with("prefetch: "))?;
    let count = |behind: &str| {
        let before = line.split_once(behind).unwrap().0;
        before.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert!(line.contains(" 0 wasted"), "{line}");
    Some((count(" block"), count(" used")))
}

#[test]
fn a_mount_prefetches_by_the_profile_that_is_named_or_lies_beside_the_image() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    fs::write(stage.at("profile"), PROFILE).unwrap();
    let profile = stage.at("profile").into_os_string().into_string().unwrap();
    assert_eq!(prefetched(&told(&stage, &["-q", "--stats"])), None);
    let named = told(&stage, &["-q", "--stats", "--profile", &profile]);
    // Whoever is faster: what is prefetched is needed, and the other way round.
    let (fetched, used) = prefetched(&named).unwrap();
    assert_eq!(fetched, used, "{named}");
    fs::rename(stage.at("profile"), stage.at("image.profile")).unwrap();
    assert!(prefetched(&told(&stage, &["-q", "--stats"])).is_some());
    let slow = ["-q", "--stats", "--prefetch-bandwidth", "1"];
    assert!(prefetched(&told(&stage, &slow)).unwrap().0 <= 1);
    let none = told(&stage, &["-q", "--stats", "--no-profile"]);
    assert_eq!(prefetched(&none), None);
    // An image may bring its own.
    fs::rename(
        stage.at("image.profile"),
        stage.at("source/.coldpress.profile"),
    )
    .unwrap();
    fs::remove_file(stage.at("image")).unwrap();
    stage.session.done(["-q", "build", "source", "image"]);
    assert!(prefetched(&told(&stage, &["-q", "--stats"])).is_some());
    assert_eq!(
        prefetched(&told(&stage, &["-q", "--stats", "--no-profile"])),
        None
    );
    // Without being asked, a mount tells nothing.
    assert_eq!(told(&stage, &["-q"]), "");
}

#[test]
fn a_profile_that_cannot_be_used_is_an_error_if_it_was_named_and_a_warning_if_not() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    fs::write(stage.at("image.profile"), "no profile\n").unwrap();
    let ran = told(&stage, &["-q"]);
    let beginning = "warning: `image.profile` is not used: cannot use `image.profile`: ";
    assert!(ran.starts_with(beginning), "{ran}");
    for (args, sentence) in [
        (
            &["--profile", "image.profile"][..],
            "error: cannot use `image.profile`: ",
        ),
        (&["--profile", "none"], "error: cannot read `none`: "),
        (
            &["--profile", "none", "--no-profile"],
            "error: the argument '--profile <FILE>' cannot be used with",
        ),
        (
            &["--prefetch-bandwidth", "0"],
            "error: invalid value '0' for '--prefetch-bandwidth <SIZE>': must be more than nothing",
        ),
    ] {
        let ran = stage
            .session
            .run([&["mount", "image", "at"][..], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(sentence), "{args:?}: {}", ran.stderr);
        assert!(!stage.is_mounted());
    }
}

#[test]
fn a_signal_makes_a_mount_tell_how_it_was_used_and_go_on() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    let mut child = stage.stay(["-q"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    for expected in [
        "reads: 0, 0 bytes, 0 of them given",
        "reads: 1, 8 bytes, 0 of them given",
    ] {
        kill_process(pid, Signal::USR1).unwrap();
        let told: Vec<String> = lines.by_ref().take(4).map(Result::unwrap).collect();
        assert_eq!(told[0], expected);
        assert!(told[1].starts_with("blocks: "), "{told:?}");
        let file = fs::read(stage.mounted("directory/file")).unwrap();
        assert_eq!(file, b"content\n");
    }
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(Session::end(child).code, Some(0));
}
