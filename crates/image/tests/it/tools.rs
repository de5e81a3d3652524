//! Tools that a test may need.

use std::path::Path;
use std::process::Command;

/// Whether a tool is there; if not, says so, or panics if the environment requirements it.
pub(crate) fn have(tool: &str, capability: &str) -> bool {
    if Command::new(tool).arg("-version").output().is_ok() {
        return true;
    }
    skip(tool, capability);
    false
}

/// Whether the process is root's.
pub(crate) fn have_root() -> bool {
    if rustix::process::geteuid().is_root() {
        return true;
    }
    skip("root", "root");
    false
}

#[expect(clippy::print_stdout, reason = "a skipped test must be seen")]
fn skip(what: &str, capability: &str) {
    let required = std::env::var("COLDPRESS_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|word| word == capability),
        "{what} not found, but COLDPRESS_REQUIRE names {capability}"
    );
    println!("skipped: {what} not found");
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
