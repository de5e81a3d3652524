//! Tests that need more than a compiler say what they miss (`coldpress_testkit`).

use std::os::fd::AsRawFd as _;
use std::path::Path;

use coldpress_testkit::{is_installed, missing};
pub(crate) use coldpress_testkit::{without_peer, without_root};

use crate::boot::Parts;
use crate::run::tracefs;

/// Skips unless the kernel mounts SquashFS from loop devices.
pub(crate) fn without_kernel() -> bool {
    let known = std::fs::read_to_string("/proc/filesystems")
        .is_ok_and(|list| list.split_whitespace().any(|name| name == "squashfs"));
    let can_mount =
        rustix::process::geteuid().is_root() && known && Path::new("/dev/loop-control").exists();
    !can_mount && missing("kernel", "SquashFS mounts")
}

/// Skips unless a start can be recorded: SquashFS mounts, and the kernel's events of the page
/// cache.
pub(crate) fn without_recording() -> bool {
    without_root() || without_kernel() || (!has_events() && missing("tracefs", "filemap events"))
}

/// Skips unless starts can be recorded and compared: as above, and a cgroup that limits reads.
pub(crate) fn without_measuring() -> bool {
    without_recording() || (!has_cgroup() && missing("kernel", "a cgroup that limits reads"))
}

/// Skips unless file systems in user space can be mounted.
pub(crate) fn without_fuse() -> bool {
    without_root() || (!Path::new("/dev/fuse").exists() && missing("fuse", "/dev/fuse"))
}

fn has_events() -> bool {
    // The event came with Linux 6.12.
    let event = "events/filemap/mm_filemap_get_pages";
    tracefs().is_ok_and(|mounted| {
        Path::new(&format!("/proc/self/fd/{}/{event}", mounted.as_raw_fd())).exists()
    })
}

/// The `blkio` hierarchy of cgroup v1, or the `io` controller of v2.
fn has_cgroup() -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts.lines().any(|line| {
        let Some((left, right)) = line.split_once(" - ") else {
            return false;
        };
        let at = Path::new(left.split(' ').nth(4).unwrap_or_default());
        let controllers = std::fs::read_to_string(at.join("cgroup.controllers"));
        let is_v1 =
            right.starts_with("cgroup ") && right.split([' ', ',']).any(|option| option == "blkio");
        let is_v2 = right.starts_with("cgroup2 ")
            && controllers.is_ok_and(|list| list.split_whitespace().any(|name| name == "io"));
        is_v1 || is_v2
    })
}

/// What small systems for virtual machines are made of; nothing if the test must be left out.
pub(crate) fn guest() -> Option<Parts> {
    let qemu = is_installed("qemu-system-x86_64");
    let parts = Parts::find().filter(|_| qemu);
    if parts.is_none() {
        missing(
            "guest",
            "QEMU, a static busybox and a kernel with modules ($COLDPRESS_GUEST_KERNEL)",
        );
    }
    parts
}

/// The same with dm-verity.
pub(crate) fn guest_with_verity() -> Option<Parts> {
    let parts = guest().and_then(|_| Parts::find_with_verity());
    if parts.is_none() {
        missing("guest", "a kernel with dm-verity ($COLDPRESS_GUEST_KERNEL)");
    }
    parts
}
