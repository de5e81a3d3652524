//! A small tree with a bit of everything that the options speak of.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, XattrFlags, lsetxattr, utimensat};

/// Writes the tree at `root`, with times long ago.
///
/// Owners are set only by root; the comparison holds for either.
pub(crate) fn write(root: &Path) {
    for directory in ["bin", "etc/conf.d", "usr/lib", "dev", "proc"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    let noise: Vec<u8> = (0_u32..300_000)
        .map(|index| index.wrapping_mul(2_654_435_761).to_le_bytes()[3])
        .collect();
    let zeros = vec![0; 140_000];
    for (name, content) in [
        ("bin/app", noise.as_slice()),
        ("bin/other", &noise[..150_000]),
        ("etc/conf", b"key = value\n"),
        ("etc/conf.d/one", b"1\n"),
        ("etc/conf.d/same", b"1\n"),
        ("usr/lib/lib.so", &noise[7..200_000]),
        ("usr/lib/lib.a", zeros.as_slice()),
        ("empty", b""),
        ("name with spaces", b"spaces"),
    ] {
        fs::write(root.join(name), content).unwrap();
    }
    symlink("lib.so", root.join("usr/lib/lib.so.1")).unwrap();
    symlink("/nowhere", root.join("dangling")).unwrap();
    fs::hard_link(root.join("bin/app"), root.join("bin/linked")).unwrap();
    fs::set_permissions(root.join("bin/app"), Permissions::from_mode(0o4755)).unwrap();
    fs::set_permissions(root.join("etc"), Permissions::from_mode(0o750)).unwrap();
    if rustix::process::geteuid().is_root() {
        lchown(root.join("etc/conf"), Some(1000), Some(100)).unwrap();
        lchown(root.join("dangling"), Some(1000), Some(1000)).unwrap();
    }
    // Where the file system has none, both tools find none.
    let _ = lsetxattr(
        root.join("etc/conf"),
        "user.kind",
        b"conf",
        XattrFlags::empty(),
    );
    age(root);
}

/// Gives everything a time long ago, directories after what is in them.
fn age(path: &Path) {
    if path.symlink_metadata().unwrap().is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            age(&entry.unwrap().path());
        }
    }
    let name = path.as_os_str().len();
    let time = Timespec {
        tv_sec: 1_600_000_000 + i64::try_from(name).unwrap() * 86_400,
        tv_nsec: 0,
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
}
