//! Container images for an ordinary user without any capability: what they write, and where.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::process::Command;

use crate::containers::{image, serve};
use crate::run::{Ran, Stage, command};
use crate::skip::{without_peer, without_root};

const USER: u32 = 65534;

/// Calls that make, open, name or remove files.
const CALLS: &str = "trace=open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,link,linkat,symlink,\
                     symlinkat,rename,renameat,renameat2,unlink,unlinkat,rmdir,truncate,chmod,\
                     fchmodat,chown,lchown,fchownat,mount";

/// Runs coldpress as the user, without a way to more rights; returns what it changed as well.
fn as_user(stage: &Stage, words: &[&str]) -> (Ran, Vec<String>) {
    let coldpress = command();
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-s", "4096", "-o"]);
    traced.arg(stage.at("calls")).args(["-e", CALLS, "--"]);
    traced.args(["setpriv", "--reuid=65534", "--regid=65534"]);
    traced.args(["--clear-groups", "--no-new-privs", "--bounding-set=-all"]);
    traced.arg(coldpress.get_program()).args(words);
    for (name, value) in coldpress.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    // A home that is not there: nothing may be looked for or kept in it.
    traced.env("HOME", stage.at("none"));
    traced.env("XDG_CACHE_HOME", stage.at("cache"));
    traced.env("TMPDIR", stage.at("out"));
    traced.env("NO_PROXY", "127.0.0.1");
    let ran = Ran::of(traced.current_dir(stage.directory()).output().unwrap());
    let calls = fs::read_to_string(stage.at("calls")).unwrap();
    let is_change = |call: &&str| {
        let flags = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TMPFILE"];
        let only_reads = call.contains(" open") && !flags.iter().any(|flag| call.contains(flag));
        // Without an opening bracket it is the end of a call that another thread interrupted.
        call.contains('(') && !only_reads && !call.contains(" = -1 ")
    };
    let changes = calls.lines().filter(is_change).map(str::to_owned);
    (ran, changes.collect())
}

#[test]
fn an_ordinary_user_without_capabilities_writes_to_cache_and_output_only() {
    if without_root() || ["setpriv", "strace"].into_iter().any(without_peer) {
        return;
    }
    let stage = Stage::new();
    image(&stage);
    stage.done(["-q", "build", "oci:layout", "first.sqfs"]);
    fs::set_permissions(stage.directory(), fs::Permissions::from_mode(0o755)).unwrap();
    for directory in ["out", "cache"] {
        fs::create_dir(stage.at(directory)).unwrap();
        chown(stage.at(directory), Some(USER), Some(USER)).unwrap();
    }
    let pulled = format!("docker://{}/app:1", serve(&stage));
    let output = stage.at("out/image.sqfs");
    for source in [
        "oci:layout",
        "oci-archive:layout.tar.gz",
        "docker-archive:saved.tar",
        &pulled,
    ] {
        demand_within(&stage, &["inspect", source, "--merged"]);
        let changes = demand_within(&stage, &["-q", "build", source, output.to_str().unwrap()]);
        let is_same = fs::read(&output).unwrap() == fs::read(stage.at("first.sqfs")).unwrap();
        assert!(is_same, "{source}");
        // The image gets its name by a call that is seen.
        assert!(changes.iter().any(|call| call.contains("image.sqfs")));
        let names = fs::read_dir(stage.at("out")).unwrap();
        assert_eq!(names.count(), 1, "{source}");
    }
}

/// Runs coldpress as the user; all that it changes must be below `out` and `cache`.
fn demand_within(stage: &Stage, words: &[&str]) -> Vec<String> {
    let (ran, changes) = as_user(stage, words);
    assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.stderr);
    let own = ["out/", "cache/", "out\"", "cache\""].map(|name| stage.at(name));
    let own = own.map(|path| path.display().to_string());
    let is_within = |call: &String| {
        call.contains("\"/dev/null\"") || own.iter().any(|path| call.contains(path))
    };
    let elsewhere: Vec<_> = changes.iter().filter(|call| !is_within(call)).collect();
    assert!(elsewhere.is_empty(), "{words:?}: {elsewhere:#?}");
    changes
}
