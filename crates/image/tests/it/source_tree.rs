//! A small directory tree with everything that an image can hold.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, XattrFlags};

pub(crate) use coldpress_nasty::{noise, text};

/// Makes the tree below `root`, which must be there.
///
/// Returns whether the file system takes user xattrs.
pub(crate) fn make(root: &Path) -> bool {
    for (seed, len) in [
        0, 1, 100, 4095, 4096, 4097, 12_345, 131_072, 131_073, 300_000, 1_100_000,
    ]
    .into_iter()
    .enumerate()
    {
        let seed = seed as u64;
        fs::write(root.join(format!("text-{len}")), text(seed, len)).unwrap();
        fs::write(root.join(format!("noise-{len}")), noise(seed, len)).unwrap();
    }
    fs::write(root.join("same-as-noise-12345"), noise(6, 12_345)).unwrap();

    let many = root.join("many");
    fs::create_dir(&many).unwrap();
    // 3000 names make a listing of several metadata blocks, 500 inodes several blocks of inodes.
    let name = |number: u64| many.join(format!("a-name-of-some-length-{number:05}"));
    for number in 0..500 {
        fs::write(name(number), number.to_le_bytes()).unwrap();
        for link in 1..6 {
            fs::hard_link(name(number), name(number + 500 * link)).unwrap();
        }
    }
    let deep = root.join("deep/er/and/deeper");
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    fs::write(deep.join(OsStr::from_bytes(b"not \xff UTF-8\n")), b"x").unwrap();
    fs::write(deep.join("n".repeat(255)), b"y").unwrap();

    // Holes in the middle and at the end.
    let sparse = File::create(root.join("sparse")).unwrap();
    sparse.write_all_at(b"begin", 0).unwrap();
    sparse.write_all_at(&noise(99, 5000), 3 << 20).unwrap();
    sparse.set_len((8 << 20) + 77).unwrap();
    File::create(root.join("hole"))
        .unwrap()
        .set_len(2 << 20)
        .unwrap();

    fs::hard_link(root.join("text-300000"), deep.join("hard-link")).unwrap();
    fs::hard_link(root.join("text-100"), root.join("another-name")).unwrap();
    symlink("../text-1", root.join("link")).unwrap();
    symlink("x".repeat(4000), root.join("long-link")).unwrap();
    let mode = Mode::from_raw_mode(0o640);
    rustix::fs::mknodat(CWD, root.join("fifo"), FileType::Fifo, mode, 0).unwrap();
    fs::hard_link(root.join("fifo"), root.join("same-fifo")).unwrap();
    drop(UnixListener::bind(root.join("socket")).unwrap());
    if rustix::process::geteuid().is_root() {
        let device = rustix::fs::makedev(7, 1234);
        let at = root.join("block-device");
        rustix::fs::mknodat(CWD, at, FileType::BlockDevice, mode, device).unwrap();
        let at = root.join("char-device");
        rustix::fs::mknodat(CWD, at, FileType::CharacterDevice, mode, device).unwrap();
        rustix::fs::chown(
            root.join("noise-1"),
            Some(rustix::fs::Uid::from_raw(1234)),
            None,
        )
        .unwrap();
        rustix::fs::chown(
            root.join("empty"),
            None,
            Some(rustix::fs::Gid::from_raw(77_777)),
        )
        .unwrap();
    }
    for (name, bits) in [
        ("noise-1", 0o4755),
        ("text-1", 0o2710),
        ("empty", 0o1777),
        ("deep", 0),
    ] {
        rustix::fs::chmod(root.join(name), Mode::from_raw_mode(bits)).unwrap();
    }
    let xattrs = set_xattrs(root);
    set_times(root);
    xattrs
}

fn set_xattrs(root: &Path) -> bool {
    let set = |path: &str, name: &str, value: &[u8]| {
        let path = root.join(path);
        rustix::fs::lsetxattr(path, name, value, XattrFlags::empty()).is_ok()
    };
    let large = noise(5, 2000);
    let taken = set("noise-100", "user.one", b"1") && set("noise-100", "user.two", &large);
    // The same large value once more: writers store it once and refer to it.
    set("many", "user.two", &large);
    set("noise-4096", "user.other", &large);
    set("noise-4096", "trusted.root", b"needs a privilege");
    set("link", "trusted.link", b"of a link");
    set("fifo", "trusted.fifo", b"of a pipe");
    taken
}

/// Gives everything a time in whole seconds, for the format has no finer ones.
fn set_times(root: &Path) {
    for (number, path) in super::compare::paths(root).iter().enumerate().rev() {
        let time = rustix::fs::Timespec {
            tv_sec: 1_000_000_000 + i64::try_from(number).unwrap(),
            tv_nsec: 0,
        };
        let times = rustix::fs::Timestamps {
            last_access: time,
            last_modification: time,
        };
        let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::utimensat(CWD, path, &times, flags).unwrap();
    }
}
