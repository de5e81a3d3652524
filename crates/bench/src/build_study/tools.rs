//! The programs that make and unpack images, and the same wish in the words of each.
//!
//! Source: docs/benchmark.md, "Making and unpacking images", which has the table.

use std::ffi::OsString;
use std::path::Path;
use std::str::FromStr;

use super::setting::{Compressor, HIGH_COMPRESSION, Setting};

/// A program that makes images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the programs")]
pub enum Maker {
    Coldpress,
    Mksquashfs,
    Gensquashfs,
}

/// A program that unpacks images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the programs")]
pub enum Unpacker {
    Coldpress,
    Unsquashfs,
    Rdsquashfs,
}

/// What an image is made of, by what, and where it goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Making<'a> {
    pub(super) setting: Setting,
    pub(super) threads: u32,
    /// Absolute.
    pub(super) source: &'a Path,
    pub(super) image: &'a Path,
}

/// An image, and the directory that is made of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unpacking<'a> {
    pub(super) threads: Option<u32>,
    pub(super) image: &'a Path,
    pub(super) directory: &'a Path,
    /// Whether owners can be restored.
    pub(super) is_root: bool,
}

impl Maker {
    /// All of them.
    pub const ALL: [Maker; 3] = [Maker::Coldpress, Maker::Mksquashfs, Maker::Gensquashfs];

    /// The name of the program.
    pub fn name(self) -> &'static str {
        match self {
            Maker::Coldpress => "coldpress",
            Maker::Mksquashfs => "mksquashfs",
            Maker::Gensquashfs => "gensquashfs",
        }
    }

    /// Why it cannot make such images; `None` if it can.
    pub(super) fn objection(self, setting: &Setting) -> Option<String> {
        let Setting {
            compressor, level, ..
        } = *setting;
        let level = level.unwrap_or(0);
        let has = match (self, compressor) {
            (Maker::Gensquashfs, Compressor::None) => {
                return Some("gensquashfs compresses always".to_owned());
            }
            (Maker::Mksquashfs | Maker::Gensquashfs, Compressor::Gzip) => level <= 9,
            (Maker::Mksquashfs | Maker::Gensquashfs, Compressor::Lz4) => {
                [0, HIGH_COMPRESSION].contains(&level)
            }
            (Maker::Mksquashfs | Maker::Gensquashfs, Compressor::Zstd) => level >= 1,
            (Maker::Mksquashfs, Compressor::Xz) => level == 6,
            _ => true,
        };
        (!has).then(|| {
            format!(
                "{} has no level {level} of {}",
                self.name(),
                compressor.name()
            )
        })
    }

    /// Its words behind its name.
    pub(super) fn words(self, making: &Making) -> Vec<OsString> {
        let Making {
            setting,
            threads,
            source,
            image,
        } = *making;
        let (source, image) = (source.as_os_str().to_owned(), image.as_os_str().to_owned());
        let compressor = setting.compressor.name();
        let block_size = setting.block_size_bytes.to_string();
        let threads = threads.to_string();
        let text = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let level = self.level_words(&setting);
        match self {
            Maker::Coldpress => [
                text(&["-q", "build", "-c", compressor]),
                level,
                text(&["-b", &block_size, "-j", &threads, "--"]),
                vec![source, image],
            ],
            Maker::Mksquashfs => [
                vec![source, image],
                match setting.compressor {
                    Compressor::None => text(&["-noI", "-noId", "-noD", "-noF", "-noX"]),
                    _ => text(&["-comp", compressor]),
                },
                level,
                text(&[
                    "-b",
                    &block_size,
                    "-processors",
                    &threads,
                    "-noappend",
                    "-no-progress",
                    "-quiet",
                ]),
            ],
            Maker::Gensquashfs => [
                text(&["-q", "-k", "-x", "-e", "-T", "-c", compressor]),
                level,
                text(&["-b", &block_size, "-j", &threads, "-D"]),
                vec![source, image],
            ],
        }
        .concat()
    }

    fn level_words(self, setting: &Setting) -> Vec<OsString> {
        let Some(level) = setting.level else {
            return Vec::new();
        };
        let is_high = level > 0;
        let words = match (self, setting.compressor) {
            (Maker::Coldpress, _) => vec!["-l".to_owned(), level.to_string()],
            (Maker::Mksquashfs, Compressor::Lzo) if level == 0 => {
                ["-Xalgorithm", "lzo1x_1"].map(str::to_owned).to_vec()
            }
            (Maker::Gensquashfs, Compressor::Lzo) if level == 0 => {
                ["-X", "algorithm=lzo1x_1"].map(str::to_owned).to_vec()
            }
            (Maker::Mksquashfs, Compressor::Lz4) if is_high => vec!["-Xhc".to_owned()],
            (Maker::Gensquashfs, Compressor::Lz4) if is_high => {
                ["-X", "hc"].map(str::to_owned).to_vec()
            }
            (_, Compressor::Lz4) | (Maker::Mksquashfs, Compressor::Xz) => Vec::new(),
            (Maker::Mksquashfs, _) => vec!["-Xcompression-level".to_owned(), level.to_string()],
            (Maker::Gensquashfs, _) => vec!["-X".to_owned(), format!("level={level}")],
        };
        words.into_iter().map(OsString::from).collect()
    }
}

impl Unpacker {
    /// All of them.
    pub const ALL: [Unpacker; 3] = [
        Unpacker::Coldpress,
        Unpacker::Unsquashfs,
        Unpacker::Rdsquashfs,
    ];

    /// The name of the program.
    pub fn name(self) -> &'static str {
        match self {
            Unpacker::Coldpress => "coldpress",
            Unpacker::Unsquashfs => "unsquashfs",
            Unpacker::Rdsquashfs => "rdsquashfs",
        }
    }

    /// Whether it can be told how many threads to use; else it uses one.
    pub(super) fn has_threads(self) -> bool {
        self != Unpacker::Rdsquashfs
    }

    /// Its words behind its name.
    pub(super) fn words(self, unpacking: &Unpacking) -> Vec<OsString> {
        let Unpacking {
            threads,
            image,
            directory,
            is_root,
        } = *unpacking;
        let (image, directory) = (
            image.as_os_str().to_owned(),
            directory.as_os_str().to_owned(),
        );
        let text = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let threads = threads.unwrap_or(1).to_string();
        match self {
            Unpacker::Coldpress => [
                text(&["-q", "extract", "-j", &threads, "--"]),
                vec![image, directory],
            ]
            .concat(),
            Unpacker::Unsquashfs => [
                text(&["-n", "-q", "-p", &threads, "-d"]),
                vec![directory, image],
            ]
            .concat(),
            Unpacker::Rdsquashfs => [
                text(&["-q", "-C", "-T", "-X"]),
                text(if is_root { &["-O"] } else { &[] }),
                text(&["-u", "/", "-p"]),
                vec![directory, image],
            ]
            .concat(),
        }
    }
}

impl FromStr for Maker {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|known| known.name() == name);
        found.ok_or_else(|| "images are made by coldpress, mksquashfs or gensquashfs".to_owned())
    }
}

impl FromStr for Unpacker {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|known| known.name() == name);
        found.ok_or_else(|| "images are unpacked by coldpress, unsquashfs or rdsquashfs".to_owned())
    }
}

#[cfg(test)]
mod tests;
