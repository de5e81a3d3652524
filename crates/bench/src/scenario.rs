//! What is compared, and how.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use coldpress_history::{Facts, Figures, Kind};
use coldpress_host::Readahead;

/// One of those that are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Contestant {
    /// What it is called in tables and charts.
    pub name: String,
    /// What the command is started from.
    pub what: What,
    /// What it is, for those who read the samples: `compressor`, `tool`.
    pub facts: Facts,
    /// What is known of it before it runs: `build_s`, `block_size_bytes`.
    pub figures: Figures,
}

impl Contestant {
    /// An image that the kernel mounts, and of which no more is told.
    pub fn image(name: &str, path: &Path) -> Contestant {
        Contestant::image_with(name, path, Readahead::Disk)
    }

    /// The same, if the kernel reads ahead so far in its mount.
    pub fn image_with(name: &str, path: &Path, readahead: Readahead) -> Contestant {
        Contestant {
            name: name.to_owned(),
            what: What::Image {
                path: path.to_owned(),
                mount: MountBy::Kernel(readahead),
            },
            facts: Facts::new(),
            figures: Figures::new(),
        }
    }
}

/// What a command is started from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// An image in a file.
    Image {
        /// The file.
        path: PathBuf,
        /// Who mounts it.
        mount: MountBy,
    },
    /// The files as they are, in a directory that is seen read-only.
    Directory(PathBuf),
}

impl What {
    /// The file or directory.
    pub fn path(&self) -> &Path {
        match self {
            What::Image { path, .. } | What::Directory(path) => path,
        }
    }

    /// How far the kernel is to read ahead in it, if the kernel mounts it.
    pub fn readahead(&self) -> Option<Readahead> {
        match self {
            What::Image {
                mount: MountBy::Kernel(readahead),
                ..
            } => Some(*readahead),
            What::Image { .. } | What::Directory(_) => None,
        }
    }
}

/// Who mounts an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MountBy {
    /// The kernel, from a loop device, which reads ahead so far. A loop device whose limits were
    /// set anew can have 4096 KiB by itself, which moved 19 % more bytes for the same start.
    Kernel(Readahead),
    /// A program, called as `PROGRAM... IMAGE DIRECTORY`, through FUSE.
    Program(Vec<OsString>),
}

/// What every contestant has to do.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What the study is: of `bench launch`, or the proof of a press.
    pub kind: Kind,
    /// What the study is called in listings.
    pub title: String,
    /// The program to start; `{root}` in its arguments stands for the mounted image.
    pub command: coldpress_host::Command,
    /// The storage device to imitate.
    pub device: coldpress_host::Device,
    /// Number of turns: cold starts of each contestant.
    pub runs: u32,
    /// What the order of the contestants in each turn is drawn from.
    pub seed: u64,
    /// Whether every file of each contestant is read too, cold again, after its starts.
    pub walk: bool,
}
