//! Tools that a test may need.

use std::path::Path;
use std::process::Command;

use coldpress_testkit::{missing, without_root};

/// Whether a tool is there; if not, says so, or panics if the environment demands it.
pub(crate) fn have(tool: &str, capability: &str) -> bool {
    Command::new(tool).arg("-version").output().is_ok() || !missing(capability, tool)
}

/// Whether the process is root's.
pub(crate) fn have_root() -> bool {
    !without_root()
}

/// Runs mksquashfs on a directory.
pub(crate) fn mksquashfs(source: &Path, image: &Path, arguments: &[&str]) {
    let output = Command::new("mksquashfs")
        .args([source, image])
        .args(["-noappend", "-no-progress", "-quiet", "-processors", "2"])
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "mksquashfs {arguments:?}: {text}");
}
