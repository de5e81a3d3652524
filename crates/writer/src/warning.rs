//! What an image leaves out or changes of its source.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::description::SourceLine;

/// Something of the source that the image does not hold as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// An xattr of a name space that the format does not have.
    Xattr {
        /// The file.
        path: PathBuf,
        /// The xattr's full name.
        name: Vec<u8>,
    },
    /// A modification time outside 1970 to 2106.
    Time {
        /// The file.
        path: PathBuf,
        /// Its modification time, seconds since 1970.
        found_s: i64,
    },
    /// Something that cannot be read: left out if it is a name, empty if it is a directory, cut
    /// short if it is a file.
    Unreadable {
        /// What was tried: `read`, `list`, ...
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system answered.
        reason: String,
    },
    /// Something in a tar archive that the image does without.
    Tar {
        /// The archive.
        archive: PathBuf,
        /// Where it is, in the archive when it is not compressed.
        at_bytes: u64,
        /// Its path in the archive.
        path: PathBuf,
        /// What is odd about it, and what became of it.
        text: String,
    },
    /// Something in a layer that says nothing about the image.
    Bookkeeping {
        /// The layer.
        archive: PathBuf,
        /// Where it is, in the layer when it is not compressed.
        at_bytes: u64,
        /// Its path there.
        path: PathBuf,
    },
    /// A file that was not the same when it was read as when it was found: the image holds what
    /// was read of it.
    Changed {
        /// The file.
        path: PathBuf,
        /// Its length when it was found.
        expected_bytes: u64,
        /// Its length in the image.
        stored_bytes: u64,
    },
    /// A name in the root directory that the image has already.
    Renamed {
        /// The name.
        name: Vec<u8>,
        /// The name that the image has instead.
        new: Vec<u8>,
    },
    /// A definition that is ignored.
    Definition {
        /// Where it stands.
        place: SourceLine,
        /// What it is about.
        path: PathBuf,
        /// Why it is ignored.
        reason: &'static str,
    },
}

impl Warning {
    /// Whether there is nothing to look at: no image could hold it, and nobody could mend the
    /// source.
    pub fn is_note(&self) -> bool {
        matches!(self, Self::Xattr { .. } | Self::Bookkeeping { .. })
    }

    pub(crate) fn unreadable(action: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::Unreadable {
            action,
            path: path.to_path_buf(),
            reason: error.to_string(),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Xattr { path, name } => write!(
                formatter,
                "`{}`: xattr `{}` is left out: SquashFS holds only user., trusted. and security.",
                path.display(),
                name.escape_ascii()
            ),
            Self::Time { path, found_s } => write!(
                formatter,
                "`{}`: modification time {found_s} s is set to the nearest that SquashFS holds, \
                 1970 to 2106",
                path.display()
            ),
            Self::Unreadable {
                action,
                path,
                reason,
            } => write!(
                formatter,
                "cannot {action} `{}`: {reason}; the image does without it",
                path.display()
            ),
            Self::Tar {
                archive,
                at_bytes,
                path,
                text,
            } => write!(
                formatter,
                "`{}`, byte {at_bytes} of the archive: `{}` {text}",
                archive.display(),
                path.display()
            ),
            Self::Bookkeeping {
                archive,
                at_bytes,
                path,
            } => write!(
                formatter,
                "`{}`, byte {at_bytes} of the layer: `{}` is left out: it is bookkeeping of \
                 whiteouts, not a part of the image",
                archive.display(),
                path.display()
            ),
            Self::Changed {
                path,
                expected_bytes,
                stored_bytes,
            } => write!(
                formatter,
                "`{}` changed while it was read: it had {expected_bytes} bytes, the image holds \
                 {stored_bytes} as they were read; build again when nothing writes to it",
                path.display()
            ),
            Self::Renamed { name, new } => write!(
                formatter,
                "`{}` is stored as `{}`: the image has something of its own name",
                name.escape_ascii(),
                new.escape_ascii()
            ),
            Self::Definition {
                place,
                path,
                reason,
            } => write!(
                formatter,
                "{place}: `{}` is ignored: {reason}",
                path.display()
            ),
        }
    }
}
