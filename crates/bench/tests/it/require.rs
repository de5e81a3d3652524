//! What a test needs of its machine.

use std::process::{Command, Stdio};

/// Whether the machine has root, `squashfs` and `mksquashfs`. Prints what is missing, and panics if
/// `COLDPRESS_REQUIRE` names its capability.
pub(crate) fn machine() -> bool {
    let missing = coldpress_host::missing_privileges();
    let filesystems = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let mksquashfs = Command::new("mksquashfs")
        .arg("-version")
        .stdout(Stdio::null())
        .status();
    let needs = [
        (
            "root",
            missing.is_empty(),
            missing.first().map_or("root", |missing| missing.what),
        ),
        (
            "kernel",
            filesystems.contains("squashfs"),
            "SquashFS in the kernel",
        ),
        ("peers", mksquashfs.is_ok(), "mksquashfs"),
    ];
    let required = std::env::var("COLDPRESS_REQUIRE").unwrap_or_default();
    let mut ready = true;
    for (capability, present, what) in needs {
        if !present {
            assert!(!required.contains(capability), "{what} not found");
            skip(what);
            ready = false;
        }
    }
    ready
}

/// Whether there is a browser. Prints that it is missing, and panics if `COLDPRESS_REQUIRE` names `peers`.
pub(crate) fn browser() -> bool {
    let version = Command::new("chromium")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let is_there = version.is_ok_and(|status| status.success());
    if !is_there {
        let required = std::env::var("COLDPRESS_REQUIRE").unwrap_or_default();
        assert!(!required.contains("peers"), "chromium not found");
        skip("chromium");
    }
    is_there
}

#[expect(
    clippy::print_stdout,
    reason = "a silent skip looks like a passed test"
)]
fn skip(what: &str) {
    println!("skipped: {what} not found");
}
