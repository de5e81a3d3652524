//! What an extraction did, and what it could not do.

use std::fmt;
use std::io;

use rustix::io::Errno;

use crate::error::{Error, PathText};

/// The most things that could not be restored, or were left out, that are named.
pub const NAMED_MAX: usize = 10_000;

/// What was extracted.
#[derive(Debug, Default)]
pub struct Extracted {
    /// Regular files, each inode once.
    pub files: u64,
    /// Directories, the root among them.
    pub directories: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Block and character devices.
    pub devices: u64,
    /// Named pipes.
    pub fifos: u64,
    /// Sockets.
    pub sockets: u64,
    /// Further names of inodes counted above.
    pub hard_links: u64,
    /// Bytes of the files, holes included.
    pub bytes: u64,
    /// What could not be restored although the content is there, the first [`NAMED_MAX`].
    pub not_restored: Vec<NotRestored>,
    /// How many could not be restored.
    pub not_restored_count: u64,
    /// Why something was left out, the first [`NAMED_MAX`]: links that lead outside, and with
    /// [`keep_going`](super::ExtractOptions::keep_going) what is damaged or could not be created.
    pub left_out: Vec<Error>,
    /// How many were left out. A directory counts once with all that is in it.
    pub left_out_count: u64,
}

impl Extracted {
    /// Whether everything is as in the image.
    pub fn is_whole(&self) -> bool {
        self.not_restored_count == 0 && self.left_out_count == 0
    }

    pub(super) fn note_not_restored(&mut self, what: impl IntoIterator<Item = NotRestored>) {
        for what in what {
            self.not_restored_count += 1;
            if self.not_restored.len() < NAMED_MAX {
                self.not_restored.push(what);
            }
        }
    }

    pub(super) fn note_left_out(&mut self, error: Error) {
        self.left_out_count += 1;
        if self.left_out.len() < NAMED_MAX {
            self.left_out.push(error);
        }
    }
}

/// Whether an error concerns one path, so that others can still be extracted.
pub(super) fn is_of_one_path(error: &Error) -> bool {
    match error {
        Error::Interrupted => false,
        Error::Write { source, .. } => !matches!(
            Errno::from_io_error(source),
            Some(
                Errno::NOSPC
                    | Errno::DQUOT
                    | Errno::ROFS
                    | Errno::IO
                    | Errno::MFILE
                    | Errno::NFILE
                    | Errno::NOMEM
            )
        ),
        _ => true,
    }
}

/// Something beside content that could not be restored.
#[derive(Debug)]
pub struct NotRestored {
    /// The path that lacks it.
    pub path: Vec<u8>,
    /// What it lacks.
    pub what: Attribute,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for NotRestored {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, error) = (PathText(&self.path), &self.error);
        write!(formatter, "`{path}`: {} not restored: {error}", self.what)
    }
}

/// What can be lacking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// The device itself: making one needs a privilege.
    Device,
    /// User and group.
    Owner,
    /// The permission bits.
    Mode,
    /// The set-user-id or set-group-id bit, left out because the owner is not restored.
    SetIdBits,
    /// The modification time.
    Time,
    /// The extended attribute with this name.
    Xattr(Vec<u8>),
    /// All extended attributes: the image is damaged there.
    Xattrs,
}

impl fmt::Display for Attribute {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device => formatter.write_str("device"),
            Self::Owner => formatter.write_str("owner"),
            Self::Mode => formatter.write_str("permissions"),
            Self::SetIdBits => formatter.write_str("set-id bits"),
            Self::Time => formatter.write_str("modification time"),
            Self::Xattr(name) => write!(formatter, "extended attribute `{}`", PathText(name)),
            Self::Xattrs => formatter.write_str("extended attributes"),
        }
    }
}
