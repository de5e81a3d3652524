//! What a line of a pack file says.

use std::path::PathBuf;

use crate::description::SourceLine;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackEntry {
    /// Names with one slash between them and none around; empty for the root directory.
    pub path: Vec<u8>,
    /// What is to happen.
    pub action: PackAction,
    /// Where the line stands.
    pub place: SourceLine,
}

/// What an entry does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackAction {
    /// Adds a file (`dir file slink nod pipe sock`).
    Add {
        /// The 12 permission bits.
        mode: u16,
        /// Owner.
        uid: u32,
        /// Group.
        gid: u32,
        /// What it is.
        object: PackObject,
    },
    /// Gives another name to a file of the image (`link`), which a later line may add.
    Link {
        /// That file's path, written as [`PackEntry::path`].
        target: Vec<u8>,
    },
    /// Adds files of a directory (`glob`).
    Glob(PackGlob),
}

/// What an entry adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackObject {
    /// A directory; the only thing that may be there already, once.
    Directory,
    /// A regular file.
    File {
        /// Where its content lies; `None` for its path in the image.
        location: Option<PathBuf>,
    },
    /// A symbolic link.
    Symlink {
        /// Where it points.
        target: Vec<u8>,
    },
    /// A block device.
    BlockDevice {
        /// Major number, at most 4095.
        major: u32,
        /// Minor number, at most 1048575.
        minor: u32,
    },
    /// A character device.
    CharDevice {
        /// Major number, at most 4095.
        major: u32,
        /// Minor number, at most 1048575.
        minor: u32,
    },
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
}

/// Which files of a directory are added, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackGlob {
    /// The permission bits of all of them; `None` for each its own.
    pub mode: Option<u16>,
    /// The owner of all; `None` for each its own.
    pub uid: Option<u32>,
    /// The group of all; `None` for each its own.
    pub gid: Option<u32>,
    /// The types that are added, as letters of `b c d p f l s`; empty for all.
    pub types: Vec<u8>,
    /// Whether other file systems are left out.
    pub one_file_system: bool,
    /// Whether files keep their modification times.
    pub keep_time: bool,
    /// Whether directories are entered.
    pub recursive: bool,
    /// What names must look like.
    pub pattern: Option<PackPattern>,
    /// The directory; `None` for the one that locations are relative to.
    pub location: Option<PathBuf>,
}

/// A shell pattern, of `* ? [...]`, where `\` makes a byte mean itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackPattern {
    /// Of the last name.
    Name(Vec<u8>),
    /// Of the path in the image without its first slash; only a slash matches a slash.
    Path(Vec<u8>),
}
