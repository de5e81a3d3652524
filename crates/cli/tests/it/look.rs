//! `tree`, `find`, `stat`, `info` and `cat`: what they say is compared with the tree that went in,
//! with GNU find, and with the readers of other projects.

mod cat;
mod find;
mod info;
mod stat;
mod tree;

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, symlink};
use std::process::Command;

use crate::run::{Ran, Stage, program};

/// Bytes that do not compress, and no two alike.
fn noise(len: usize, seed: u32) -> Vec<u8> {
    let words = (0..).map(|number: u32| {
        let mixed = (number ^ seed).wrapping_mul(2_654_435_761);
        (mixed ^ mixed >> 15).wrapping_mul(2_246_822_519)
    });
    words.flat_map(u32::to_le_bytes).take(len).collect()
}

/// A small tree of every type that needs no privileges, and its image.
fn stage() -> Stage {
    let stage = Stage::new();
    fs::create_dir_all(stage.at("s/usr/bin")).unwrap();
    fs::create_dir(stage.at("s/void")).unwrap();
    fs::write(stage.at("s/usr/bin/tool"), noise(300_000, 1)).unwrap();
    fs::hard_link(stage.at("s/usr/bin/tool"), stage.at("s/usr/bin/other")).unwrap();
    fs::set_permissions(stage.at("s/usr/bin/tool"), Permissions::from_mode(0o4755)).unwrap();
    symlink("usr/bin", stage.at("s/bin")).unwrap();
    symlink("tool", stage.at("s/usr/bin/link")).unwrap();
    fs::write(stage.at("s/empty"), "").unwrap();
    fs::write(
        stage.at("s").join(OsStr::from_bytes(b"new\nline\xff")),
        "odd",
    )
    .unwrap();
    let file = File::create(stage.at("s/sparse")).unwrap();
    file.write_all_at(&noise(4096, 2), 400_000).unwrap();
    fs::set_permissions(stage.at("s/sparse"), Permissions::from_mode(0o600)).unwrap();
    let times = ["-h", "-d", "@1000000000", "s/empty", "s/void", "s/bin"];
    program(
        Command::new("touch")
            .args(times)
            .current_dir(stage.directory()),
    );
    let args = ["-q", "build", "s", "image", "--xattr-add", "user.x=a b"];
    stage.done(args);
    stage
}

fn with(stage: &Stage, verb: &str, args: &[&str]) -> Ran {
    stage.run([verb, "image"].iter().chain(args))
}
