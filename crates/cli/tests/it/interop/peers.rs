//! Those who read images: each is asked for the whole tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::manifest::Manifest;
use crate::run::{detach, done, program};
use crate::skip;

/// A mount that goes with its guard.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        detach(&self.0);
    }
}

/// An empty directory of this name.
fn fresh(work: &Path, name: &str) -> PathBuf {
    let path = work.join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir(&path).unwrap();
    path
}

/// The kernel's view, through a mount.
pub(super) fn kernel(image: &Path, expected: &Manifest, work: &Path, context: &str) {
    if skip::without_kernel() {
        return;
    }
    let at = fresh(work, "mount");
    let mut mount = Command::new("mount");
    program(
        mount
            .args(["-t", "squashfs", "-o", "loop,ro"])
            .arg(image)
            .arg(&at),
    );
    let mounted = Mounted(at);
    expected.demand(&Manifest::of(&mounted.0), &format!("kernel, {context}"));
}

/// What unsquashfs extracts.
pub(super) fn unsquashfs(image: &Path, expected: &Manifest, work: &Path, context: &str) {
    if skip::without_peer("unsquashfs") {
        return;
    }
    let at = fresh(work, "unsquashfs");
    let mut command = Command::new("unsquashfs");
    program(command.args(["-n", "-q", "-f", "-d"]).arg(&at).arg(image));
    expected.demand(&Manifest::of(&at), &format!("unsquashfs, {context}"));
}

/// What rdsquashfs lists and unpacks.
pub(super) fn rdsquashfs(image: &Path, expected: &Manifest, work: &Path, context: &str) {
    if skip::without_peer("rdsquashfs") {
        return;
    }
    let listing = program(Command::new("rdsquashfs").arg("-d").arg(image));
    // Names are bytes; the root directory has none and is left out.
    let lines = listing
        .stdout
        .split_inclusive(|byte| *byte == b'\n')
        .count();
    assert_eq!(lines, expected.len() - 1, "rdsquashfs, {context}");
    let at = fresh(work, "rdsquashfs");
    let mut command = Command::new("rdsquashfs");
    program(
        command
            .args(["-q", "-C", "-O", "-T", "-X", "-u", "/", "-p"])
            .arg(&at)
            .arg(image),
    );
    // It makes a file of every name, and leaves the root directory's own metadata alone.
    let seen = |manifest: &Manifest| manifest.without_links().without_top();
    seen(expected).demand(&seen(&Manifest::of(&at)), &format!("rdsquashfs, {context}"));
}

/// What we extract.
pub(super) fn coldpress(image: &Path, expected: &Manifest, work: &Path, context: &str) {
    let at = work.join("coldpress");
    if at.exists() {
        fs::remove_dir_all(&at).unwrap();
    }
    done([Path::new("-q"), Path::new("extract"), image, &at]);
    expected.demand(&Manifest::of(&at), &format!("coldpress extract, {context}"));
}
