//! How a mount ends.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use super::stage::{MountStage, large};
use crate::run::{Session, comes_true};
use crate::skip;

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn the_files_are_there_when_the_command_comes_back_and_go_with_fusermount() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    for _ in 0..3 {
        let guard = stage.mount([""; 0]);
        assert_eq!(fs::read(stage.mounted("large")).unwrap(), large());
        drop(guard);
        assert!(!stage.is_mounted());
        assert_eq!(fs::read_dir(stage.at("at")).unwrap().count(), 0);
    }
}

#[test]
fn a_signal_unmounts_and_is_no_failure() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let child = stage.stay([""; 0]);
        fs::metadata(stage.mounted("directory/file")).unwrap();
        send(&child, signal);
        let ran = Session::end(child);
        assert_eq!(ran.code, Some(0), "{signal:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("mounted on `"), "{}", ran.stderr);
        assert!(!stage.is_mounted());
    }
}

#[test]
fn who_uses_files_at_a_signal_goes_on_until_the_second() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    let child = stage.stay(["-q"]);
    let mut file = File::open(stage.mounted("large")).unwrap();
    send(&child, Signal::TERM);
    assert!(comes_true(|| !stage.is_mounted()));
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    assert!(bytes == large());
    drop(file);
    assert_eq!(Session::end(child).code, Some(0));
    let child = stage.stay(["-q"]);
    let mut file = File::open(stage.mounted("directory/file")).unwrap();
    send(&child, Signal::INT);
    assert!(comes_true(|| !stage.is_mounted()));
    send(&child, Signal::INT);
    assert_eq!(Session::end(child).code, Some(130));
    file.rewind().unwrap();
    assert!(file.read_to_end(&mut bytes).is_err());
}

#[test]
fn after_a_kill_the_mount_can_be_removed() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    let child = stage.stay(["-q"]);
    send(&child, Signal::KILL);
    assert_eq!(Session::end(child).code, None);
    let error = fs::read_dir(stage.at("at")).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(107), "{error}");
    let ran = stage.unmount();
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    assert_eq!(fs::read_dir(stage.at("at")).unwrap().count(), 0);
}

#[test]
fn an_idle_mount_goes_unless_somebody_uses_it() {
    if skip::without_fuse() {
        return;
    }
    let stage = MountStage::new();
    let child = stage.stay(["-q", "-o", "timeout=1"]);
    let file = File::open(stage.mounted("large")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2500));
    assert!(stage.is_mounted());
    drop(file);
    assert!(comes_true(|| !stage.is_mounted()));
    assert_eq!(Session::end(child).code, Some(0));
}
