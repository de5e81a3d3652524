//! What a read-only file system refuses, and how: every call answers as it does for the kernel's
//! mount.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use rustix::fs::{
    Access, AtFlags, CWD, FallocateFlags, FileType, FlockOperation, Gid, Mode, OFlags, SeekFrom,
    Timespec, Timestamps, Uid, XattrFlags, accessat, chmodat, chownat, fallocate, flock, ftruncate,
    getxattr, linkat, mkdirat, mknodat, openat, readlinkat, removexattr, renameat, seek, setxattr,
    statvfs, symlinkat, unlinkat, utimensat,
};
use rustix::io::{Errno, pread, read, write};

use super::stage::MountStage;
use crate::run::{detach, program};
use crate::skip;

/// What a path is of: present and absent ones, and those whose way there is wrong.
const PATHS: [&str; 14] = [
    "",
    "directory",
    "directory/",
    "directory/empty",
    "directory/file",
    "directory/file/",
    "directory/file/below",
    "directory/missing",
    "missing/below",
    "link",
    "link to directory/file",
    "loop/below",
    "dangling",
    "pipe",
];

type Answer = Result<u64, Errno>;

fn opened(path: &Path, flags: OFlags) -> Answer {
    openat(
        CWD,
        path,
        flags | OFlags::CLOEXEC | OFlags::NONBLOCK,
        Mode::RWXU,
    )
    .map(|_| 0)
}

/// An open file, for calls that take one.
fn with_file(path: &Path, call: impl FnOnce(&rustix::fd::OwnedFd) -> Result<u64, Errno>) -> Answer {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    call(&openat(CWD, path, flags, Mode::empty())?)
}

/// Calls that want to write to a file.
fn writes(path: &Path) -> Vec<(&'static str, Answer)> {
    let done = |answer: Result<(), Errno>| answer.map(|()| 0);
    vec![
        ("open to write", opened(path, OFlags::WRONLY)),
        ("open to read and write", opened(path, OFlags::RDWR)),
        (
            "open to append",
            opened(path, OFlags::WRONLY | OFlags::APPEND),
        ),
        (
            "open and truncate",
            opened(path, OFlags::RDONLY | OFlags::TRUNC),
        ),
        ("create", opened(path, OFlags::WRONLY | OFlags::CREATE)),
        (
            "create anew",
            opened(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL),
        ),
        (
            "create without a name",
            opened(path, OFlags::RDWR | OFlags::TMPFILE),
        ),
        (
            "write",
            with_file(path, |file| Ok(write(file, b"more")? as u64)),
        ),
        (
            "ftruncate",
            with_file(path, |file| done(ftruncate(file, 1))),
        ),
        (
            "fallocate",
            with_file(path, |file| {
                done(fallocate(file, FallocateFlags::empty(), 0, 1))
            }),
        ),
    ]
}

/// Calls that want to change a path, or ask whether it may be changed.
fn changes(path: &Path) -> Vec<(&'static str, Answer)> {
    let beside = path.with_file_name("new");
    let now = Timestamps {
        last_access: Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        },
        last_modification: Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        },
    };
    let owner = (Some(Uid::from_raw(1)), Some(Gid::from_raw(1)));
    let done = |answer: Result<(), Errno>| answer.map(|()| 0);
    vec![
        ("mkdir", done(mkdirat(CWD, path, Mode::RWXU))),
        (
            "mknod",
            done(mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0)),
        ),
        ("symlink", done(symlinkat("target", CWD, path))),
        (
            "link",
            done(linkat(CWD, path, CWD, &beside, AtFlags::empty())),
        ),
        ("rename", done(renameat(CWD, path, CWD, &beside))),
        ("unlink", done(unlinkat(CWD, path, AtFlags::empty()))),
        ("rmdir", done(unlinkat(CWD, path, AtFlags::REMOVEDIR))),
        (
            "chmod",
            done(chmodat(CWD, path, Mode::RWXU, AtFlags::empty())),
        ),
        (
            "chown",
            done(chownat(CWD, path, owner.0, owner.1, AtFlags::empty())),
        ),
        (
            "lchown",
            done(chownat(
                CWD,
                path,
                owner.0,
                owner.1,
                AtFlags::SYMLINK_NOFOLLOW,
            )),
        ),
        (
            "utimens",
            done(utimensat(CWD, path, &now, AtFlags::empty())),
        ),
        (
            "setxattr",
            done(setxattr(path, "user.name", b"value", XattrFlags::empty())),
        ),
        ("removexattr", done(removexattr(path, "user.name"))),
        (
            "may write",
            done(accessat(CWD, path, Access::WRITE_OK, AtFlags::empty())),
        ),
    ]
}

/// Calls that only look. Opening past caches (`O_DIRECT`) is left out: FUSE allows it, the kernel's
/// `SquashFS` does not.
fn looks(path: &Path) -> Vec<(&'static str, Answer)> {
    let done = |answer: Result<(), Errno>| answer.map(|()| 0);
    let length = |file: &rustix::fd::OwnedFd| seek(file, SeekFrom::End(0));
    vec![
        ("open", opened(path, OFlags::RDONLY)),
        (
            "open a directory",
            opened(path, OFlags::RDONLY | OFlags::DIRECTORY),
        ),
        (
            "open no link",
            opened(path, OFlags::RDONLY | OFlags::NOFOLLOW),
        ),
        (
            "may read",
            done(accessat(CWD, path, Access::READ_OK, AtFlags::empty())),
        ),
        (
            "may execute",
            done(accessat(CWD, path, Access::EXEC_OK, AtFlags::empty())),
        ),
        (
            "readlink",
            readlinkat(CWD, path, Vec::new()).map(|target| target.as_bytes().len() as u64),
        ),
        (
            "getxattr",
            getxattr(path, "user.name", &mut [0_u8; 9][..]).map(|len| len as u64),
        ),
        (
            "getxattr, none",
            getxattr(path, "user.none", &mut [0_u8; 9][..]).map(|len| len as u64),
        ),
        (
            "getxattr, too long",
            getxattr(path, "user.name", &mut [0_u8; 2][..]).map(|len| len as u64),
        ),
        (
            "read",
            with_file(path, |file| Ok(read(file, &mut [0_u8; 100])? as u64)),
        ),
        (
            "read behind the end",
            with_file(
                path,
                |file| Ok(pread(file, &mut [0_u8; 9], 1 << 40)? as u64),
            ),
        ),
        ("length", with_file(path, length)),
        (
            "data behind the end",
            with_file(path, |file| seek(file, SeekFrom::Data(1 << 40))),
        ),
        (
            "lock",
            with_file(path, |file| {
                done(flock(file, FlockOperation::NonBlockingLockExclusive))
            }),
        ),
    ]
}

/// What every call answers for every path.
fn answers(root: &Path) -> BTreeMap<String, String> {
    let too_long = "n".repeat(256);
    let mut answers = BTreeMap::new();
    for path in PATHS.iter().copied().chain([&*too_long]) {
        let at = root.join(path);
        let calls = [writes(&at), changes(&at), looks(&at)];
        for (call, answer) in calls.into_iter().flatten() {
            let mut said = String::new();
            match answer {
                Ok(value) => write!(said, "{value}").unwrap(),
                Err(error) => write!(said, "{error}").unwrap(),
            }
            answers.insert(format!("{call} `{path}`"), said);
        }
    }
    answers
}

#[test]
fn every_call_answers_as_for_a_mount_of_the_kernel() {
    if skip::without_fuse() || skip::without_kernel() {
        return;
    }
    let stage = MountStage::new();
    let source = stage.at("source");
    fs::set_permissions(
        source.join("directory/file"),
        PermissionsExt::from_mode(0o640),
    )
    .unwrap();
    for (name, target) in [
        ("link", "directory/file"),
        ("link to directory", "directory"),
        ("loop", "loop"),
        ("dangling", "nowhere"),
    ] {
        symlink(target, source.join(name)).unwrap();
    }
    program(Command::new("mkfifo").arg(source.join("pipe")));
    fs::remove_file(stage.at("image")).unwrap();
    let given = setxattr(
        source.join("directory/file"),
        "user.name",
        b"value",
        XattrFlags::empty(),
    );
    assert!(given.is_ok() || given == Err(Errno::OPNOTSUPP));
    stage.session.done(["-q", "build", "source", "image"]);

    let guard = stage.mount([""; 0]);
    let ours = answers(&stage.at("at"));
    let volume = statvfs(stage.at("at")).unwrap();
    assert!(
        volume
            .f_flag
            .contains(rustix::fs::StatVfsMountFlags::RDONLY)
    );
    drop(guard);
    let mut mount = Command::new("mount");
    mount.args([
        "-t",
        "squashfs",
        "-o",
        "loop,ro,nodev,nosuid",
        "image",
        "at",
    ]);
    program(mount.current_dir(stage.session.directory()));
    let kernels = answers(&stage.at("at"));
    let kernels_volume = statvfs(stage.at("at")).unwrap();
    detach(&stage.at("at"));

    let different: Vec<_> = kernels
        .iter()
        .filter(|(call, answer)| ours.get(*call) != Some(answer))
        .map(|(call, answer)| format!("{call}: {answer}, and ours {:?}", ours.get(call)))
        .collect();
    assert!(different.is_empty(), "{different:#?}");
    assert_eq!(ours.len(), (PATHS.len() + 1) * (24 + 14));
    assert_eq!(
        (
            volume.f_namemax,
            volume.f_files,
            volume.f_ffree,
            volume.f_bfree
        ),
        (
            kernels_volume.f_namemax,
            kernels_volume.f_files,
            kernels_volume.f_ffree,
            kernels_volume.f_bfree
        )
    );
}
