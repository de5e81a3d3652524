//! A mount of somebody who is not root.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::process::Command;

use super::stage::MountStage;
use crate::run::Ran;
use crate::skip;

/// `nobody`, in the group of the same number.
const NOBODY: u32 = 65_534;

/// Runs a program as nobody.
fn as_nobody(stage: &MountStage, program: &str, args: &[&str]) -> Ran {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    let command = command
        .arg(program)
        .args(args)
        .env("COLDPRESS_HISTORY", "off");
    Ran::of(
        command
            .current_dir(stage.session.directory())
            .output()
            .unwrap(),
    )
}

/// A stage in which nobody may do everything, and the binary where nobody finds it.
fn stage() -> MountStage {
    let stage = MountStage::new();
    let directory = stage.session.directory().to_owned();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_coldpress"), stage.at("program")).unwrap();
    chown(stage.at("at"), Some(NOBODY), Some(NOBODY)).unwrap();
    stage
}

#[test]
fn nobody_needs_to_be_root() {
    if skip::without_fuse() || skip::without_peer("setpriv") || skip::without_peer("fusermount3") {
        return;
    }
    let stage = stage();
    fs::set_permissions(stage.at("source/large"), fs::Permissions::from_mode(0o600)).unwrap();
    stage.session.done(["-q", "build", "source", "image"]);
    let ran = as_nobody(&stage, "./program", &["mount", "image", "at"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    let ran = as_nobody(&stage, "cat", &["at/directory/file"]);
    assert_eq!((ran.code, ran.text()), (Some(0), "content\n".to_owned()));
    // The image is nobody's to read, so all of it is.
    let ran = as_nobody(&stage, "wc", &["-c", "at/large"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    // It is not there for others, whoever they are.
    let error = fs::read(stage.mounted("directory/file")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
    let ran = as_nobody(&stage, "fusermount3", &["-u", "at"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""));
    assert!(!stage.is_mounted());
}

#[test]
fn permissions_count_for_root_and_whoever_is_let_in() {
    if skip::without_fuse() || skip::without_peer("setpriv") {
        return;
    }
    let stage = stage();
    fs::set_permissions(stage.at("source/large"), fs::Permissions::from_mode(0o600)).unwrap();
    stage.session.done(["-q", "build", "source", "image"]);
    let _guard = stage.mount(["-o", "allow_other"]);
    let ran = as_nobody(&stage, "cat", &["at/directory/file"]);
    assert_eq!((ran.code, ran.text()), (Some(0), "content\n".to_owned()));
    let ran = as_nobody(&stage, "cat", &["at/large"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("Permission denied"), "{}", ran.stderr);
}
