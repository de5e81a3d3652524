//! Where the paths of a condition are looked up.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat, openat2};

use super::super::Command;
use super::super::prepare::replace_root;

/// What a condition needs to know of the program.
#[derive(Debug)]
pub(in crate::launch) struct Seen<'a> {
    /// The directory that `{root}` stands for on the machine.
    root: &'a Path,
    /// Whether it is the program's root.
    is_inside: bool,
}

impl<'a> Seen<'a> {
    pub(in crate::launch) fn from(command: &Command, root: &'a Path) -> Self {
        Self {
            root,
            is_inside: command.chroot,
        }
    }

    /// A path as the program sees it.
    pub(super) fn place(&self, path: &OsStr) -> Place {
        if self.is_inside {
            let path = PathBuf::from(replace_root(path, Path::new("/")));
            let world = World::Programs(None);
            Place { world, path }
        } else {
            let path = PathBuf::from(replace_root(path, self.root));
            let world = World::Machine;
            Place { world, path }
        }
    }

    /// Where the image is mounted on the machine; `None` for a program that runs inside it, which
    /// has mounts of its own there: `/proc/PID/root` shows them.
    pub(super) fn machine_root(&self) -> Option<PathBuf> {
        (!self.is_inside).then(|| self.root.to_owned())
    }
}

/// A path in the world of the started program.
#[derive(Debug)]
pub(in crate::launch) struct Place {
    world: World,
    path: PathBuf,
}

#[derive(Debug)]
enum World {
    /// This process sees what the program sees.
    Machine,
    /// The root directory of the program, once it runs: its `/tmp` and `/run` are mounts that
    /// nobody else sees.
    Programs(Option<OwnedFd>),
}

impl Place {
    /// The program runs. One that has ended already has no root any more, and nothing in it.
    pub(super) fn follow(&mut self, pid: u32) {
        if let World::Programs(root) = &mut self.world {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            *root = open(format!("/proc/{pid}/root"), flags, Mode::empty()).ok();
        }
    }

    /// What stands there.
    pub(super) fn open(&self) -> io::Result<OwnedFd> {
        self.open_path(&self.path)
    }

    /// The nearest directory above it that exists.
    pub(super) fn open_parent(&self) -> io::Result<OwnedFd> {
        let mut error = io::Error::from(io::ErrorKind::NotFound);
        for parent in self.path.ancestors().skip(1) {
            let parent = if parent.as_os_str().is_empty() {
                Path::new(".")
            } else {
                parent
            };
            match self.open_path(parent) {
                Ok(directory) => return Ok(directory),
                Err(found) => error = found,
            }
        }
        Err(error)
    }

    fn open_path(&self, path: &Path) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let file = match &self.world {
            World::Machine => openat(CWD, path, flags, Mode::empty()),
            // Links of the image lead to where they lead the program, not into this machine.
            World::Programs(Some(root)) => {
                let below = path.as_os_str().as_bytes();
                let first = below.iter().position(|byte| *byte != b'/');
                let below = first.and_then(|first| below.get(first..)).unwrap_or(b".");
                let below = OsStr::from_bytes(below);
                openat2(root, below, flags, Mode::empty(), ResolveFlags::IN_ROOT)
            }
            World::Programs(None) => Err(rustix::io::Errno::NOENT),
        };
        Ok(file?)
    }

    /// For error texts.
    pub(super) fn name(&self) -> String {
        format!("`{}`", self.path.display())
    }
}
