//! The directory that is recorded and pressed: some 320 files, 15 MB, most of which a start does
//! not touch.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::run::program;

/// Directories `app/lib/part-00` to `part-19`, each with files `module-0` to `module-9`.
///
/// The content does not compress and a directory's takes more than a block, so in an image without
/// a plan the same file of each directory lies in a block of its own.
pub(crate) const PARTS: usize = 20;
/// Files `data/large-0` to `large-9`, of some blocks each.
pub(crate) const LARGE_BYTES: usize = 900_000;
/// A name that is no UTF-8, in a directory whose name is none.
pub(crate) const NOT_UTF_8: &[u8] = b"caf\xe9/na\xefve";
/// What that file and `with space/a file` contain.
pub(crate) const WORDS: &str = "a few words\n";

/// Writes it at `root`.
pub(crate) fn write(root: &Path) {
    let mut noise = Noise(1);
    let file = |name: &str, content: &[u8]| {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    for part in 0..PARTS {
        for module in 0..10 {
            let content = noise.take(module_bytes(part, module));
            file(&format!("app/lib/part-{part:02}/module-{module}"), &content);
        }
    }
    for index in 0..100 {
        let text = format!("line of text {index}\n").repeat(1 + index * 20);
        file(&format!("app/share/text-{index:02}"), text.as_bytes());
    }
    for index in 0..10 {
        file(&format!("data/large-{index}"), &noise.take(LARGE_BYTES));
    }
    file("data/text", &b"compresses well\n".repeat(100_000));
    file("with space/a file", WORDS.as_bytes());
    let odd = root.join(OsStr::from_bytes(NOT_UTF_8));
    fs::create_dir(odd.parent().unwrap()).unwrap();
    fs::write(odd, WORDS).unwrap();
    file("app/bin/tool", b"tool\n");
    fs::hard_link(root.join("app/bin/tool"), root.join("app/bin/zz-same")).unwrap();
    symlink("lib/part-00", root.join("app/link")).unwrap();
    fs::create_dir(root.join("empty")).unwrap();
}

/// Length of a module: from 8,000 bytes to 25,000, seldom a multiple of a page.
pub(crate) fn module_bytes(part: usize, module: usize) -> usize {
    8_000 + (part * 10 + module) * 7_919 % 17_000
}

/// A root file system with `/bin/sh`, what it is linked with, and what a chroot needs.
pub(crate) fn write_root(root: &Path) {
    for directory in ["proc", "dev", "tmp", "bin"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    let linked = program(Command::new("ldd").arg("/bin/sh")).text();
    let libraries = linked
        .split_whitespace()
        .filter(|word| word.starts_with('/'));
    for path in libraries.chain(["/bin/sh"]) {
        let inside = root.join(path.trim_start_matches('/'));
        fs::create_dir_all(inside.parent().unwrap()).unwrap();
        fs::copy(path, inside).unwrap();
    }
    fs::write(root.join("words"), WORDS).unwrap();
}

/// Bytes that do not compress.
struct Noise(u64);

impl Noise {
    fn take(&mut self, len: usize) -> Vec<u8> {
        let step = |state: &mut u64| {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state.to_le_bytes()[7]
        };
        (0..len).map(|_| step(&mut self.0)).collect()
    }
}
