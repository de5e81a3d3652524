//! Tests that need more than a compiler say what they miss.
//!
//! Where `COLDPRESS_REQUIRE` names the capability (`root`, `kernel`, `peers`), missing it is a
//! failure: a suite that skips in silence rots.

use std::env;
use std::path::Path;

/// Whether the test must be left out because `what` is missing.
///
/// # Panics
///
/// If `COLDPRESS_REQUIRE` contains `capability`.
#[expect(clippy::print_stdout, reason = "a test says why it did nothing")]
fn missing(capability: &str, what: &str) -> bool {
    let required = env::var("COLDPRESS_REQUIRE").unwrap_or_default();
    let is_required = required.split(',').any(|word| word.trim() == capability);
    assert!(
        !is_required,
        "{what} not found, but COLDPRESS_REQUIRE demands {capability}"
    );
    println!("skipped: {what} not found");
    true
}

/// Skips unless the test runs as root.
pub(crate) fn without_root() -> bool {
    !rustix::process::geteuid().is_root() && missing("root", "root")
}

/// Skips unless the kernel mounts SquashFS from loop devices.
pub(crate) fn without_kernel() -> bool {
    let known = std::fs::read_to_string("/proc/filesystems")
        .is_ok_and(|list| list.split_whitespace().any(|name| name == "squashfs"));
    let can_mount =
        rustix::process::geteuid().is_root() && known && Path::new("/dev/loop-control").exists();
    !can_mount && missing("kernel", "SquashFS mounts")
}

/// Skips unless a program of another project is installed.
pub(crate) fn without_peer(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).any(|directory| directory.join(name).is_file());
    !found && missing("peers", name)
}
