//! A tree with every inode type, edge sizes, edge names and edge numbers.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, Timespec, Timestamps, XattrFlags, lsetxattr, makedev, mknodat,
    utimensat,
};

/// Around every block size, and around the lengths that need no block or one.
const SIZES: [usize; 11] = [
    0,
    1,
    (4 << 10) - 1,
    4 << 10,
    (4 << 10) + 1,
    (128 << 10) - 1,
    128 << 10,
    (128 << 10) + 1,
    (1 << 20) - 1,
    1 << 20,
    (1 << 20) + 1,
];

/// Writes the tree at `root`.
pub(crate) fn write(root: &Path) {
    fs::create_dir(root).unwrap();
    let directory = |name: &str| {
        let path = root.join(name);
        fs::create_dir(&path).unwrap();
        path
    };
    sizes(&directory("sizes"));
    sparse(&directory("sparse"));
    hard_links(&directory("hard-links"));
    xattrs(&directory("xattrs"));
    names(&directory("names"));
    many(&directory("many"));
    deep(&directory("deep"));
    specials(&directory("specials"));
    symlinks(&directory("symlinks"));
    numbers(&directory("numbers"));
    directory("empty");
}

fn sizes(directory: &Path) {
    for size in SIZES {
        let noise = noise(size, u32::try_from(size).unwrap());
        fs::write(directory.join(format!("noise-{size}")), &noise).unwrap();
        // A duplicate of the whole file.
        fs::write(directory.join(format!("again-{size}")), &noise).unwrap();
        let text: Vec<u8> = b"coldpress ".iter().copied().cycle().take(size).collect();
        fs::write(directory.join(format!("text-{size}")), text).unwrap();
    }
    // The same blocks with another tail end, and the same tail end behind other blocks.
    let mut other = noise((128 << 10) + 1, (128 << 10) + 1);
    other.push(1);
    fs::write(directory.join("longer"), &other).unwrap();
    other[0] ^= 1;
    fs::write(directory.join("changed"), &other).unwrap();
}

/// Bytes that do not compress.
fn noise(len: usize, seed: u32) -> Vec<u8> {
    let mut state = u64::from(seed) | 1;
    let step = |state: &mut u64| {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state.to_le_bytes()[7]
    };
    (0..len).map(|_| step(&mut state)).collect()
}

/// Holes at the beginning, in the middle, at the end, and nothing else.
fn sparse(directory: &Path) {
    let files: [(&str, u64, &[u64]); 6] = [
        ("beginning", (3 << 20) + 5, &[3 << 20]),
        ("middle", 5 << 20, &[0, 4 << 20]),
        ("end", (5 << 20) + 1, &[0]),
        ("all", (3 << 20) + 1, &[]),
        ("all-blocks", 3 << 20, &[]),
        ("short", 100, &[]),
    ];
    for (name, size_bytes, data) in files {
        let file = File::create(directory.join(name)).unwrap();
        for start in data {
            file.write_all_at(b"data", *start).unwrap();
        }
        file.set_len(size_bytes).unwrap();
    }
    // Zeros that take disk are zeros all the same.
    fs::write(directory.join("written-zeros"), vec![0; 300_000]).unwrap();
}

fn hard_links(directory: &Path) {
    let make = |name: &str| directory.join(name);
    fs::create_dir(make("below")).unwrap();
    fs::write(make("file"), noise(5000, 3)).unwrap();
    fs::hard_link(make("file"), make("below/file")).unwrap();
    fs::hard_link(make("file"), make("zz")).unwrap();
    fs::write(make("empty"), "").unwrap();
    fs::hard_link(make("empty"), make("below/empty")).unwrap();
    symlink("file", make("link")).unwrap();
    fs::hard_link(make("link"), make("below/link")).unwrap();
    node(&make("fifo"), FileType::Fifo, 0);
    fs::hard_link(make("fifo"), make("below/fifo")).unwrap();
}

fn xattrs(directory: &Path) {
    let set = |path: &Path, name: &str, value: &[u8]| {
        lsetxattr(path, name, value, XattrFlags::empty()).unwrap();
    };
    for index in 0..40 {
        let path = directory.join(format!("file-{index}"));
        fs::write(&path, [b'x'; 10]).unwrap();
        // Some share all their xattrs, some only a value.
        set(&path, "user.group", format!("{}", index / 10).as_bytes());
        set(&path, "user.long", &noise(600 + index / 20, 5));
    }
    let file = directory.join("file-0");
    set(&file, "user.empty", b"");
    set(&file, "trusted.overlay.opaque", b"y");
    set(&file, "security.coldpress", &noise(1000, 9));
    let below = directory.join("below");
    fs::create_dir(&below).unwrap();
    set(&below, "user.directory", b"\0\xff");
    set(directory, "trusted.directory", b"value");
    let link = directory.join("link");
    symlink("file-0", &link).unwrap();
    set(&link, "trusted.link", b"value");
    let fifo = directory.join("fifo");
    node(&fifo, FileType::Fifo, 0);
    set(&fifo, "trusted.fifo", b"value");
    let device = directory.join("device");
    node(&device, FileType::CharacterDevice, makedev(1, 3));
    set(&device, "trusted.device", b"value");
}

/// Names of every length, and bytes that no text holds.
fn names(directory: &Path) {
    for len in 1..=255 {
        fs::write(directory.join("n".repeat(len)), len.to_string()).unwrap();
    }
    for name in [
        &b"\xff\xfe"[..],
        b"caf\xe9",
        b"tab\there",
        b"back\\slash",
        b" space ",
        b"-dash",
        b"\"quote\"",
        b"\x7f",
    ] {
        fs::write(directory.join(OsStr::from_bytes(name)), name).unwrap();
    }
    fs::write(directory.join("na\u{ef}ve-\u{65e5}\u{672c}"), "").unwrap();
}

/// A listing of several metadata blocks, with a directory index.
fn many(directory: &Path) {
    for index in 0..3000 {
        let content = if index % 7 == 0 {
            format!("{index}")
        } else {
            String::new()
        };
        fs::write(
            directory.join(format!("entry-with-a-name-{index}")),
            content,
        )
        .unwrap();
    }
}

fn deep(directory: &Path) {
    let mut path = directory.to_path_buf();
    for depth in 0..100 {
        path.push(format!("level-{depth}"));
        fs::create_dir(&path).unwrap();
    }
    fs::write(path.join("bottom"), "bottom").unwrap();
}

fn specials(directory: &Path) {
    let make = |name: &str| directory.join(name);
    node(&make("fifo"), FileType::Fifo, 0);
    node(&make("null"), FileType::CharacterDevice, makedev(1, 3));
    node(&make("block"), FileType::BlockDevice, makedev(8, 1));
    node(
        &make("largest"),
        FileType::BlockDevice,
        makedev(4095, (1 << 20) - 1),
    );
    node(
        &make("minor-256"),
        FileType::CharacterDevice,
        makedev(1, 256),
    );
    // A bound path is short (108 bytes), the directory's may not be.
    let short = tempfile::tempdir_in("/tmp").unwrap();
    UnixListener::bind(short.path().join("s")).unwrap();
    let mut mv = std::process::Command::new("mv");
    assert!(
        mv.arg(short.path().join("s"))
            .arg(make("socket"))
            .status()
            .unwrap()
            .success()
    );
}

fn symlinks(directory: &Path) {
    let targets: [&[u8]; 5] = [
        b"x",
        b"../sizes/noise-1",
        b"/nowhere",
        b"\xff\xfe",
        &[b'p'; 4095],
    ];
    for (index, target) in targets.into_iter().enumerate() {
        symlink(
            OsStr::from_bytes(target),
            directory.join(format!("link-{index}")),
        )
        .unwrap();
    }
}

/// Owners, modes and times at their limits.
fn numbers(directory: &Path) {
    let file = |name: String| -> PathBuf {
        let path = directory.join(name);
        fs::write(&path, "numbers").unwrap();
        path
    };
    for id in [0, 1, 65_534, 65_535, 65_536, 1 << 31, u32::MAX - 1] {
        lchown(
            file(format!("owner-{id}")),
            Some(id),
            Some(u32::MAX - 1 - id),
        )
        .unwrap();
    }
    for mode in [0o000, 0o644, 0o777, 0o1777, 0o2755, 0o4755, 0o7777, 0o7000] {
        fs::set_permissions(file(format!("mode-{mode:o}")), Permissions::from_mode(mode)).unwrap();
        let below = directory.join(format!("directory-{mode:o}"));
        fs::create_dir(&below).unwrap();
        fs::set_permissions(&below, Permissions::from_mode(mode)).unwrap();
    }
    for time_s in [0, 1, 1 << 31, u32::MAX.into()] {
        let time = Timespec {
            tv_sec: time_s,
            tv_nsec: 0,
        };
        let times = Timestamps {
            last_access: time,
            last_modification: time,
        };
        let path = file(format!("time-{time_s}"));
        utimensat(CWD, &path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }
}

fn node(path: &Path, file_type: FileType, device: u64) {
    mknodat(CWD, path, file_type, Mode::from_raw_mode(0o640), device).unwrap();
}
