//! Why a request is refused.

use coldpress_image::Error;

/// What a program is told instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The directory has no such name: `ENOENT`.
    NotFound,
    /// The name is longer than any: `ENAMETOOLONG`.
    NameTooLong,
    /// Something is looked for in what is no directory: `ENOTDIR`.
    NotDirectory,
    /// A directory is read as a file: `EISDIR`.
    IsDirectory,
    /// It is neither a file nor a symbolic link, whichever is read: `EINVAL`.
    OtherType,
    /// There is no extended attribute of this name: `ENODATA`. Where the image has none at all,
    /// too: `EOPNOTSUPP` would tell programs that they cannot know.
    NoAttribute,
    /// The kernel names an inode that it was never told of, or that it has forgotten: `ESTALE`.
    Unknown,
    /// The image is damaged there or cannot be read: `EIO`.
    Damaged,
    /// It was read around what a program needs, and is not worth it now: `EIO`, which the kernel
    /// keeps to itself. Whoever needs it has it asked for again.
    PutOff,
}

/// A failure, or an error of the image that becomes one once it was told.
pub(crate) enum Fault {
    Refused(Failure),
    Damaged(Error),
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Damaged(error)
    }
}
