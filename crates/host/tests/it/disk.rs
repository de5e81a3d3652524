//! A small ext4 file system of the test's own, and files that lie on it in pieces.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use coldpress_host::{Extents, enter_private_namespace};
use rustix::fs::{FallocateFlags, fallocate};

use crate::stage::{can_run, noise};

/// Bytes of the pieces of [`Disk::in_pieces`].
pub(crate) const PIECE_BYTES: usize = 16 << 10;

/// Mounted where only this thread and its children see it; gone with them.
pub(crate) struct Disk {
    root: PathBuf,
    _work: tempfile::TempDir,
}

impl Disk {
    /// `None` without root, loop devices or mkfs.ext4.
    pub(crate) fn new() -> Option<Self> {
        let is_root = rustix::process::geteuid().is_root();
        let has_loop = Path::new("/dev/loop-control").exists();
        let has_mkfs = Command::new("mkfs.ext4").arg("-V").output().is_ok();
        let can = can_run("root", "root", is_root)
            && can_run("kernel", "loop devices", has_loop)
            && can_run("peers", "mkfs.ext4", has_mkfs);
        if !can {
            return None;
        }
        enter_private_namespace().unwrap();
        let work = tempfile::tempdir_in("/var/tmp").unwrap();
        let image = work.path().join("disk");
        File::create(&image).unwrap().set_len(64 << 20).unwrap();
        run(Command::new("mkfs.ext4")
            .args(["-q", "-F", "-m", "0"])
            .arg(&image));
        let root = work.path().join("root");
        fs::create_dir(&root).unwrap();
        run(Command::new("mount")
            .args(["-o", "loop"])
            .args([&image, &root]));
        // ext4 keeps 2 % back, in which a file would lie in one piece.
        let device = root.metadata().unwrap().dev();
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        let device = fs::read_link(format!("/sys/dev/block/{major}:{minor}")).unwrap();
        let kept_back = Path::new("/sys/fs/ext4").join(device.file_name().unwrap());
        fs::write(kept_back.join("reserved_clusters"), "0").unwrap();
        Some(Self { root, _work: work })
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Takes all the space that is left.
    pub(crate) fn fill(&self) -> File {
        let filler = File::create_new(self.at("filler")).unwrap();
        let mut end = 0;
        // ext4 frees the blocks of a removed file only when it commits the removal.
        loop {
            let before = end;
            for len_bytes in [1 << 20, 64 << 10, 4096] {
                while fallocate(&filler, FallocateFlags::empty(), end, len_bytes).is_ok() {
                    end += len_bytes;
                }
            }
            filler.sync_all().unwrap();
            if end == before {
                break;
            }
        }
        // The file system needs some for its notes of pieces.
        filler.set_len(end - (64 << 10)).unwrap();
        filler.sync_all().unwrap();
        filler
    }

    /// A file that was written when there was no other space than pieces, and its content.
    pub(crate) fn in_pieces(&self, name: &str, pieces: usize) -> (PathBuf, Vec<u8>) {
        let filler = self.fill();
        let piece = PIECE_BYTES as u64;
        // Some more, for the notes of the file system.
        for index in 0..pieces as u64 + 40 {
            let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(&filler, punch, index * 2 * piece, piece).unwrap();
        }
        filler.sync_all().unwrap();
        let path = self.at(name);
        let content = noise(pieces * PIECE_BYTES);
        let file = File::create_new(&path).unwrap();
        file.write_all_at(&content, 0).unwrap();
        file.sync_all().unwrap();
        drop(filler);
        fs::remove_file(self.at("filler")).unwrap();
        rustix::fs::syncfs(&file).unwrap();
        let count = extents(&path).count;
        assert!(count * 2 > pieces as u64, "{count} extents");
        (path, content)
    }
}

pub(crate) fn extents(path: &Path) -> Extents {
    Extents::of(&File::open(path).unwrap(), path).unwrap()
}

pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}
