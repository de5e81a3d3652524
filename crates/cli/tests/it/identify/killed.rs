//! Signals while an image is made again: nothing stays in TMPDIR.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::{coldpress, stage};
use crate::run::{Stage, comes_true, command, names};

/// Stands for an mksquashfs that takes its time.
const ENDLESS: &str = "#!/bin/sh\n[ \"$1\" = -version ] || echo > \"$STARTED\"\nexec sleep 60\n";

/// Starts to make `image` again and returns once mksquashfs runs on what was extracted.
fn start(stage: &Stage) -> Child {
    let mut paths = vec![stage.at("bin")];
    paths.extend(env::split_paths(&env::var_os("PATH").unwrap()));
    let mut resquash = command();
    resquash
        .args(["-q", "resquash", "image", "--rules", "snap-store"])
        .current_dir(stage.directory())
        .env("PATH", env::join_paths(paths).unwrap())
        .env("STARTED", stage.at("started"))
        .env("TMPDIR", stage.at("tmp"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = resquash.spawn().unwrap();
    assert!(comes_true(|| stage.at("started").exists()));
    child
}

#[test]
fn what_was_extracted_goes_however_it_ends() {
    let stage = stage();
    coldpress(&stage, "--compressor xz --tails none --dir-mode 0500");
    fs::create_dir(stage.at("bin")).unwrap();
    fs::create_dir(stage.at("tmp")).unwrap();
    fs::write(stage.at("bin/mksquashfs"), ENDLESS).unwrap();
    fs::set_permissions(stage.at("bin/mksquashfs"), Permissions::from_mode(0o755)).unwrap();
    for (signal, code) in [
        (Signal::INT, Some(130)),
        (Signal::TERM, Some(130)),
        (Signal::KILL, None),
    ] {
        let mut child = start(&stage);
        let [scratch] = &names(&stage.at("tmp"))[..] else {
            panic!("not one directory");
        };
        let extracted = stage.at("tmp").join(scratch).join("root/dir/below/c");
        assert!(extracted.exists());
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), code, "{signal:?}");
        assert!(
            comes_true(|| names(&stage.at("tmp")).is_empty()),
            "{signal:?}"
        );
        fs::remove_file(stage.at("started")).unwrap();
    }
}
