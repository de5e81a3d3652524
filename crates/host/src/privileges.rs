//! What recording and proving need, found out by trying.

use std::fs::OpenOptions;
use std::thread;

use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::mount::{FsOpenFlags, fsopen};

use crate::cgroup::Cgroup;
use crate::recorder::FILEMAP_EVENTS;
use crate::tracefs::Tracefs;
use crate::{enter_private_namespace, resident_pages};

/// A privilege or a part of the kernel that this process lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// What is missing.
    pub what: &'static str,
    /// Why it is needed, one sentence.
    pub why: &'static str,
}

type Check = (fn() -> bool, Missing);

const CHECKS: [Check; 7] = [
    (
        can_mount,
        Missing {
            what: "the right to mount (CAP_SYS_ADMIN)",
            why: "the image is mounted again for each cold start, hidden from everyone else",
        },
    ),
    (
        has_loop_devices,
        Missing {
            what: "loop devices (/dev/loop-control)",
            why: "the kernel mounts an image file as a block device, whose reads are counted",
        },
    ),
    (
        has_squashfs,
        Missing {
            what: "SquashFS in the kernel (CONFIG_SQUASHFS)",
            why: "a start is recorded and timed with the file system that users run",
        },
    ),
    (
        has_filemap_events,
        Missing {
            what: "access to the kernel's filemap events (tracefs, Linux 6.12 or later)",
            why: "they show which pages of which files a start uses",
        },
    ),
    (
        Cgroup::is_available,
        Missing {
            what: "cgroups that can limit reads (v1 blkio or v2 io)",
            why: "they make this machine's disk as slow as the stick or card of the users",
        },
    ),
    (
        can_drop_caches,
        Missing {
            what: "the right to drop caches (/proc/sys/vm/drop_caches)",
            why: "a start is cold only if nothing of the image is in memory",
        },
    ),
    (
        can_count_pages,
        Missing {
            what: "cachestat(2) on files of others (root, Linux 6.5 or later)",
            why: "it proves that a start was cold, and says how much memory it filled",
        },
    ),
];

/// What `press`, `record` and `prove` need and this process lacks; empty if nothing.
///
/// # Cost
///
/// Starts one thread, opens some files of the kernel, mounts nothing that can be seen.
pub fn missing_privileges() -> Vec<Missing> {
    let failed = CHECKS.iter().filter(|(check, _)| !check());
    failed.map(|&(_, missing)| missing).collect()
}

/// Whether this process may give files to others, as root may.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// In a thread of its own, because the namespace changes for the calling thread only.
pub(crate) fn can_mount() -> bool {
    let attempt = thread::spawn(|| enter_private_namespace().is_ok());
    attempt.join().unwrap_or(false)
}

fn has_loop_devices() -> bool {
    let control = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/loop-control");
    control.is_ok()
}

/// Opening the file system loads its module, which `/proc/filesystems` does not list before. Who
/// may not mount is not told, and has one reason less to complain.
fn has_squashfs() -> bool {
    let opened = fsopen("squashfs", FsOpenFlags::FSOPEN_CLOEXEC);
    matches!(opened, Ok(_) | Err(Errno::PERM))
}

fn has_filemap_events() -> bool {
    Tracefs::open().is_ok_and(|tracefs| {
        let events = tracefs.path().join("events/filemap");
        let instances = access(tracefs.path().join("instances"), Access::WRITE_OK);
        let complete = FILEMAP_EVENTS
            .iter()
            .all(|event| events.join(event).is_dir());
        complete && instances.is_ok()
    })
}

fn can_drop_caches() -> bool {
    access("/proc/sys/vm/drop_caches", Access::WRITE_OK).is_ok()
}

fn can_count_pages() -> bool {
    let program = std::fs::File::open("/proc/self/exe");
    program.is_ok_and(|program| resident_pages(&program).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_one_sentence_without_full_stop() {
        for (_, missing) in CHECKS {
            assert!(
                !missing.why.contains('.') && !missing.why.is_empty(),
                "{missing:?}"
            );
        }
    }
}
