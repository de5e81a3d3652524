//! What an archive says about one thing in it.

use crate::content::Segment;

/// One thing in an archive.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Where its header is, from the beginning of the archive.
    pub(crate) at_bytes: u64,
    /// As the archive has it.
    pub(crate) path: Vec<u8>,
    pub(crate) kind: EntryKind,
    pub(crate) mode: u16,
    pub(crate) uid: i64,
    pub(crate) gid: i64,
    /// Modification time, seconds since 1970.
    pub(crate) mtime_s: i64,
    /// Full names and values, ascending.
    pub(crate) xattrs: Vec<(Vec<u8>, Vec<u8>)>,
    /// Names of access lists.
    pub(crate) acls: Vec<&'static str>,
}

/// What an entry is.
#[derive(Debug)]
pub(crate) enum EntryKind {
    File {
        size_bytes: u64,
        /// Its pieces in the data, where it is sparse.
        segments: Option<Vec<Segment>>,
    },
    Directory,
    HardLink {
        target: Vec<u8>,
    },
    Symlink {
        target: Vec<u8>,
    },
    CharDevice {
        major: u32,
        minor: u32,
    },
    BlockDevice {
        major: u32,
        minor: u32,
    },
    Fifo,
    /// A type that is not known.
    Unknown(u8),
}
