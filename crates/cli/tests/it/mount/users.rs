//! A mount of somebody who is not root.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::process::Command;

use super::stage::MountStage;
use crate::run::Ran;
use crate::skip;

/// `nobody`, in the group of the same number.
const NOBODY: u32 = 65_534;
/// Defines `nobody COMMAND...`, and `leave COMMAND...` that goes on until the mount is no longer
/// busy; gives `/dev/fuse` to everyone, as it usually is.
const PREPARE: &str = "\
    set -e; mknod -m 666 device c 10 229; mount --bind device /dev/fuse; \
    nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"; }; \
    leave() { for turn in $(seq 600); do ! \"$@\" 2>/dev/null || return 0; sleep 0.1; done; false; }; ";

/// Runs a script in a mount namespace of its own.
fn run(stage: &MountStage, script: &str) -> Ran {
    let mut command = Command::new("unshare");
    let script = format!("{PREPARE}{script}");
    command.args(["-m", "sh", "-c", &script]);
    command.env("COLDPRESS_HISTORY", "off");
    Ran::of(
        command
            .current_dir(stage.session.directory())
            .output()
            .unwrap(),
    )
}

/// A stage in which nobody finds everything, but a file of which only its owner may read.
fn stage() -> MountStage {
    let stage = MountStage::new();
    let directory = stage.session.directory().to_owned();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_coldpress"), stage.at("program")).unwrap();
    chown(stage.at("at"), Some(NOBODY), Some(NOBODY)).unwrap();
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(stage.at("source/large"), private).unwrap();
    fs::remove_file(stage.at("image")).unwrap();
    stage.session.done(["-q", "build", "source", "image"]);
    stage
}

fn cannot_run() -> bool {
    let programs = ["setpriv", "unshare", "fusermount3"];
    skip::without_fuse() || programs.into_iter().any(skip::without_peer)
}

#[test]
fn nobody_needs_to_be_root() {
    if cannot_run() {
        return;
    }
    let stage = stage();
    // The image is nobody's to read, so all of it is; it is not there for others, whoever they are.
    let script = "nobody ./program mount image at; nobody cat at/directory/file; \
                  nobody cat at/large | wc -c; ! cat at/directory/file; leave nobody fusermount3 -u at; \
                  ls -A at";
    let ran = run(&stage, script);
    assert_eq!(
        (ran.code, &*ran.text()),
        (Some(0), "content\n512077\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stderr, "cat: at/directory/file: Permission denied\n");
}

#[test]
fn permissions_count_for_whoever_is_let_in() {
    if cannot_run() {
        return;
    }
    let stage = stage();
    let script = "./program mount image at -o allow_other; nobody cat at/directory/file; \
                  ! nobody cat at/large; wc -c < at/large; leave fusermount3 -u at";
    let ran = run(&stage, script);
    assert_eq!(
        (ran.code, &*ran.text()),
        (Some(0), "content\n512077\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stderr, "cat: at/large: Permission denied\n");
}
