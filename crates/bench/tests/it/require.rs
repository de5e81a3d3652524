//! What a test needs of its machine.

use std::process::{Command, Stdio};

use coldpress_testkit::missing;

/// Whether the machine has root, `squashfs` and `mksquashfs`. Prints what is missing, and panics if
/// `COLDPRESS_REQUIRE` names its capability.
pub(crate) fn machine() -> bool {
    let lacks = coldpress_host::missing_privileges();
    let filesystems = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let mksquashfs = Command::new("mksquashfs")
        .arg("-version")
        .stdout(Stdio::null())
        .status();
    let needs = [
        (
            "root",
            lacks.is_empty(),
            lacks.first().map_or("root", |lack| lack.what),
        ),
        (
            "kernel",
            filesystems.contains("squashfs"),
            "SquashFS in the kernel",
        ),
        ("peers", mksquashfs.is_ok(), "mksquashfs"),
    ];
    let mut ready = true;
    for (capability, present, what) in needs {
        ready &= present || !missing(capability, what);
    }
    ready
}

/// Whether there is a browser. Prints that it is missing, and panics if `COLDPRESS_REQUIRE` names
/// `peers`.
pub(crate) fn browser() -> bool {
    let version = Command::new("chromium")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    version.is_ok_and(|status| status.success()) || !missing("peers", "chromium")
}
