//! An image to work on, and how outputs are compared.

use std::fmt::Debug;
use std::fs;
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use crate::mksquashfs::tools::{Workshop, ran};
use crate::mksquashfs::tree;
use crate::run::Ran;

/// A workshop with an image `image` of the tree `tree`.
pub(super) fn workshop() -> Workshop {
    let workshop = Workshop::new();
    let root = workshop.at("tree");
    fs::create_dir(&root).unwrap();
    fs::create_dir(root.join("dev")).unwrap();
    let dev = |name: &str| root.join("dev").join(name);
    mknodat(CWD, dev("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    mknodat(CWD, dev("socket"), FileType::Socket, Mode::RWXU, 0).unwrap();
    if rustix::process::geteuid().is_root() {
        for (name, kind, device) in [
            ("null", FileType::CharacterDevice, makedev(1, 3)),
            ("disk", FileType::BlockDevice, makedev(8, 17)),
        ] {
            mknodat(CWD, dev(name), kind, Mode::RUSR, device).unwrap();
        }
    }
    tree::write(&root);
    workshop.done("mksquashfs", "tree image -quiet -mkfs-time 1600000000");
    workshop
}

/// Runs the binary by another name, and the program that has it, in the zone `zone`.
pub(super) fn both(workshop: &Workshop, name: &str, words: &[&str], zone: &str) -> (Ran, Ran) {
    let run = |mut command: Command| ran(command.args(words).env("TZ", zone));
    (run(workshop.command(name)), run(workshop.peer(name)))
}

/// Demands that both ended alike and printed the same on standard output.
pub(super) fn assert_same(words: &impl Debug, (ours, theirs): &(Ran, Ran)) {
    let (text, expected) = (&ours.stdout, &theirs.stdout);
    assert_eq!(ours.code, theirs.code, "{words:?}: {}", ours.stderr);
    let shown = String::from_utf8_lossy(text);
    assert_eq!(shown, String::from_utf8_lossy(expected), "{words:?}");
    assert_eq!(text, expected, "{words:?}");
}
