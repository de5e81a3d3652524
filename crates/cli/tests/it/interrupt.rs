//! Signals in the middle of a build.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::run::command;

/// Long enough for the build to have begun, a small part of what it takes.
const BEGIN: Duration = Duration::from_millis(500);

/// Starts a build that takes many seconds, over an old image.
fn start(root: &Path) -> Child {
    let source = root.join("source");
    fs::create_dir(&source).unwrap();
    let mut state: u64 = 7;
    let mut content = vec![0_u8; 48 << 20];
    for byte in &mut content {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        // Text of 16 letters: xz tries hard on it.
        *byte = b'a' + u8::try_from(state >> 60).unwrap();
    }
    fs::write(source.join("long"), content).unwrap();
    fs::write(root.join("image"), "old").unwrap();
    let mut build = command();
    build.args(["build", "-q", "-c", "xz", "-l", "9", "-b", "1M", "-j", "1"]);
    let child = build.arg(&source).arg(root.join("image")).spawn().unwrap();
    std::thread::sleep(BEGIN);
    child
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// The old image is as it was, and there is nothing beside it.
fn check_untouched(root: &Path) {
    assert_eq!(fs::read(root.join("image")).unwrap(), b"old");
    let mut names: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["image", "source"]);
}

#[test]
fn ctrl_c_ends_a_build_with_130_and_leaves_the_old_image() {
    for number in [Signal::INT, Signal::TERM, Signal::HUP] {
        let root = tempfile::tempdir().unwrap();
        let mut child = start(root.path());
        signal(&child, number);
        // An impatient user.
        signal(&child, number);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{number:?}");
        check_untouched(root.path());
    }
}

#[test]
fn a_killed_build_leaves_the_old_image_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let mut child = start(root.path());
    signal(&child, Signal::KILL);
    assert_eq!(child.wait().unwrap().code(), None);
    check_untouched(root.path());
}
