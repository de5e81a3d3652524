//! Signals while an image is appended to. `scripts/append-kills.sh` does the same at random
//! moments.

use std::fs;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use super::super::tools::Workshop;
use super::workshop;
use crate::run::{comes_true, done};

/// A workshop with an image, and `large`, which takes seconds to append to it.
fn prepared() -> (Workshop, Vec<u8>) {
    let workshop = workshop();
    workshop.done("mksquashfs", "SRC out -quiet -comp xz -b 1M");
    fs::create_dir(workshop.at("large")).unwrap();
    let mut state: u64 = 7;
    let mut letter = || {
        let next = state.wrapping_mul(6_364_136_223_846_793_005);
        state = next.wrapping_add(1);
        // Text of 16 letters: xz tries hard on it.
        b'a' + u8::try_from(state >> 60).unwrap()
    };
    let content: Vec<u8> = (0..24 << 20).map(|_| letter()).collect();
    fs::write(workshop.at("large/file"), content).unwrap();
    let before = fs::read(workshop.at("out")).unwrap();
    (workshop, before)
}

/// Starts appending, and returns when new data is in the file.
fn start(workshop: &Workshop, before: &[u8]) -> Child {
    let mut command = workshop.command("mksquashfs");
    command.args(["large", "out", "-quiet", "-processors", "1"]);
    let child = command.spawn().unwrap();
    let len = || workshop.at("out").metadata().unwrap().len();
    assert!(comes_true(|| len() > before.len() as u64));
    child
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn a_signal_leaves_the_old_image_and_nothing_behind_it() {
    let (workshop, before) = prepared();
    for number in [Signal::INT, Signal::TERM] {
        let mut child = start(&workshop, &before);
        signal(&child, number);
        assert_eq!(child.wait().unwrap().code(), Some(1), "{number:?}");
        assert!(fs::read(workshop.at("out")).unwrap() == before);
    }
}

#[test]
fn a_kill_leaves_the_old_image_and_the_next_one_appends() {
    let (workshop, before) = prepared();
    let mut child = start(&workshop, &before);
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    let after = fs::read(workshop.at("out")).unwrap();
    assert!(after.len() > before.len() && after[..before.len()] == before);
    done(["check".as_ref(), workshop.at("out").as_os_str()]);
    // What the kill left is not in the image that is made then.
    workshop.done("mksquashfs", "other out -quiet -mkfs-time 1");
    let appended = fs::read(workshop.at("out")).unwrap();
    fs::write(workshop.at("out"), &before).unwrap();
    workshop.done("mksquashfs", "other out -quiet -mkfs-time 1");
    assert!(fs::read(workshop.at("out")).unwrap() == appended);
}
