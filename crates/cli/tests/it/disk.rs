//! A small ext4 file system of the test's own, and files that lie on it in pieces.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use coldpress_host::{Extents, enter_private_namespace};
use rustix::fs::{FallocateFlags, fallocate, statvfs};

use crate::run::{Ran, comes_true, command, program};
use crate::skip;

/// Bytes of the pieces of [`Disk::in_pieces`].
const PIECE_BYTES: u64 = 16 << 10;

/// Mounted where only this thread and its children see it; gone with them.
pub(crate) struct Disk {
    root: PathBuf,
    _work: tempfile::TempDir,
}

impl Disk {
    /// `None` without root, loop devices or mkfs.ext4.
    pub(crate) fn new() -> Option<Self> {
        if skip::without_root() || skip::without_kernel() || skip::without_peer("mkfs.ext4") {
            return None;
        }
        enter_private_namespace().unwrap();
        let work = tempfile::tempdir_in("/var/tmp").unwrap();
        let image = work.path().join("disk");
        File::create(&image).unwrap().set_len(64 << 20).unwrap();
        program(
            Command::new("mkfs.ext4")
                .args(["-q", "-F", "-m", "0"])
                .arg(&image),
        );
        let root = work.path().join("root");
        fs::create_dir(&root).unwrap();
        program(
            Command::new("mount")
                .args(["-o", "loop"])
                .args([&image, &root]),
        );
        // ext4 keeps 2 % back, in which a file would lie in one piece.
        let device = root.metadata().unwrap().dev();
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        let device = fs::read_link(format!("/sys/dev/block/{major}:{minor}")).unwrap();
        let kept_back = Path::new("/sys/fs/ext4").join(device.file_name().unwrap());
        fs::write(kept_back.join("reserved_clusters"), "0").unwrap();
        Some(Self { root, _work: work })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The binary, to be started there.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = command();
        command.args(args).current_dir(&self.root);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    pub(crate) fn done(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    }

    /// Puts content into a file when there is no other space than pieces.
    pub(crate) fn in_pieces(&self, name: &str, content: &[u8]) -> PathBuf {
        let filler = File::create_new(self.at("filler")).unwrap();
        let mut end = 0;
        // What was removed before is free only after the journal has said so.
        for _ in 0..3 {
            rustix::fs::syncfs(&filler).unwrap();
            for len_bytes in [1 << 20, 64 << 10, 4096] {
                while fallocate(&filler, FallocateFlags::empty(), end, len_bytes).is_ok() {
                    end += len_bytes;
                }
            }
        }
        // The file system needs some for its notes of pieces.
        filler.set_len(end - (64 << 10)).unwrap();
        filler.sync_all().unwrap();
        let pieces = (content.len() as u64).div_ceil(PIECE_BYTES);
        // Some more, for the notes of the file system.
        for index in 0..pieces + 40 {
            let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(&filler, punch, index * 2 * PIECE_BYTES, PIECE_BYTES).unwrap();
        }
        filler.sync_all().unwrap();
        let path = self.at(name);
        let file = File::create_new(&path).unwrap();
        file.write_all_at(content, 0).unwrap();
        file.sync_all().unwrap();
        drop(filler);
        fs::remove_file(self.at("filler")).unwrap();
        // What other tests start may hold it open until it executes its program.
        assert!(comes_true(|| self.is_mostly_free()));
        rustix::fs::syncfs(&file).unwrap();
        let count = extents(&path);
        assert!(count * 2 > pieces, "{count} extents");
        path
    }

    fn is_mostly_free(&self) -> bool {
        let volume = statvfs(&self.root).unwrap();
        volume.f_bfree > volume.f_blocks / 10 * 9
    }

    /// Names there, the hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = crate::run::names(&self.root);
        names.retain(|name| name != "lost+found");
        names
    }
}

pub(crate) fn extents(path: &Path) -> u64 {
    Extents::of(&File::open(path).unwrap(), path).unwrap().count
}
