//! What a pseudo definition says.

use std::path::PathBuf;

use crate::description::SourceLine;

/// One definition: what is to happen to one path of the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Names with one slash between them and none around; empty for the root directory.
    pub path: Vec<u8>,
    /// What is to happen.
    pub action: Action,
    /// Where the definition stands.
    pub place: SourceLine,
}

/// What a definition does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Adds a file (`d b c f s i`, `D B C F S I`, `R`).
    Add {
        /// Its metadata.
        attributes: Attributes,
        /// What it is.
        object: Object,
    },
    /// Changes mode, owner and, if it has one, time of what is there (`m`, `M`).
    Modify(Attributes),
    /// Sets an extended attribute (`x`).
    Xattr {
        /// Its full name.
        name: Vec<u8>,
        /// Its value.
        value: Vec<u8>,
    },
    /// Gives another name to a file that an earlier definition adds (`L`).
    Link {
        /// That file's path, written as [`Definition::path`].
        target: Vec<u8>,
    },
    /// Takes a file from outside, with its metadata (`l`, `h`).
    Disk {
        /// Where it lies.
        path: PathBuf,
        /// Whether a symbolic link there stands for what it points to (`h`) or itself (`l`).
        follow: bool,
    },
}

/// Metadata that a definition gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The 12 permission bits.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Modification time in s since 1970; `None` of the types in small letters.
    pub time_s: Option<u32>,
}

/// What a definition adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// A directory.
    Directory,
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
    /// A symbolic link.
    Symlink {
        /// Where it points.
        target: Vec<u8>,
    },
    /// A regular file that holds what a command prints.
    Command {
        /// For `/bin/sh -c`.
        command: Vec<u8>,
    },
    /// A regular file whose content stands in the pseudo file.
    Data {
        /// Which of the pseudo files with data.
        file: usize,
        /// Where it begins, from the first byte of the file's data section.
        offset_bytes: u64,
        /// How long it is.
        len_bytes: u64,
        /// Whether blocks of zeros were holes in the image that it was taken from.
        sparse: bool,
    },
}
