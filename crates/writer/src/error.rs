//! Why an image could not be built.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;

use coldpress_assemble::TooMany;

use crate::description::{Malformed, SourceLine};

use crate::layers::LayerDefect;
use crate::tar::TarDefect;

/// A reason for which no image was written, or none could be verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something of the source cannot be read.
    #[error("cannot {action} `{}`: {error}", path.display())]
    Source {
        /// What was tried: `read`, `list`, ...
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system answered.
        error: io::Error,
    },
    /// A tar archive is damaged, or cannot become a tree.
    #[error("`{}`, byte {at_bytes} of the archive: {defect}", path.display())]
    Tar {
        /// The archive.
        path: PathBuf,
        /// Where it is so, in the archive when it is not compressed.
        at_bytes: u64,
        /// What is wrong.
        defect: TarDefect,
    },
    /// A layer of a container image is not the one that the image names.
    #[error("`{}`: {defect}", layer.display())]
    Layer {
        /// The layer.
        layer: PathBuf,
        /// What is wrong.
        defect: Box<LayerDefect>,
    },
    /// There is no room for what is read from an archive.
    #[error(
        "cannot keep the files of the archive in `{}`: {error}; make room there, or set TMPDIR to \
        a \
         directory that has it",
        directory.display()
    )]
    Spool {
        /// Where they are kept until the image is written.
        directory: PathBuf,
        /// What the system answered.
        error: io::Error,
    },
    /// An archive or a file like it is not as it was when its names were read.
    #[error("`{}` changed while it was read; build again when nothing writes to \
    it", path.display())]
    StoreChanged {
        /// The file.
        path: PathBuf,
    },
    /// The format cannot hold something.
    #[error("`{}` cannot be stored: {rule}", path.display())]
    Unstorable {
        /// The file.
        path: PathBuf,
        /// The limit that it breaks, and what to do.
        rule: &'static str,
    },
    /// Two sources would have the same name in the root directory.
    #[error("`{}` and another source have the same name; rename one of them", path.display())]
    SameName {
        /// The second of them.
        path: PathBuf,
    },
    /// An image cannot be appended to.
    #[error("`{}` cannot be appended to: {reason}", path.display())]
    NotAppendable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process appends to the image.
    #[error("another process appends to `{}`; wait until that is done", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// An image cannot be recovered.
    #[error("`{}` cannot be recovered from `{}`: {reason}", path.display(), recovery.display())]
    NotRecoverable {
        /// The image.
        path: PathBuf,
        /// The recovery file.
        recovery: PathBuf,
        /// What is wrong with one of them.
        reason: &'static str,
    },
    /// A source would have a name in the root directory that the image that is appended to has.
    #[error(
        "the source `{}` has a name that the image has in its root directory; rename it, or give \
         the old root directory a name of its own",
        path.display()
    )]
    NameTaken {
        /// The name.
        path: PathBuf,
    },
    /// A definition cannot be understood.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A definition cannot be followed.
    #[error("{place}: `{}` {rule}", path.display())]
    Definition {
        /// Where it stands.
        place: SourceLine,
        /// The file that it is about.
        path: PathBuf,
        /// What is wrong with it.
        rule: &'static str,
    },
    /// Nothing says how the root directory is.
    #[error("there is no source, and no definition of the root directory such as `/ d 755 0 0`")]
    NoRoot,
    /// A definition runs a command, which was not allowed.
    #[error("{place}: the command `{}` is not run: it was not allowed", command.escape_ascii())]
    CommandRefused {
        /// Where it stands.
        place: SourceLine,
        /// The command.
        command: Vec<u8>,
    },
    /// A definition's command did not succeed.
    #[error("{place}: the command `{}` failed: {status}", command.escape_ascii())]
    CommandFailed {
        /// Where it stands.
        place: SourceLine,
        /// The command.
        command: Vec<u8>,
        /// How it ended.
        status: ExitStatus,
    },
    /// The image cannot be written.
    #[error("cannot {action} `{}`: {error}", path.display())]
    Output {
        /// What was tried: `create`, `write`, `replace`, ...
        action: &'static str,
        /// The image.
        path: PathBuf,
        /// What the system answered.
        #[source]
        error: io::Error,
    },
    /// An old image that only its owner may replace.
    #[error(
        "`{}` belongs to user {owner}, and only that user can replace it, since its directory is \
         sticky; name another file, or let its owner remove it",
        path.display()
    )]
    OfAnother {
        /// The image.
        path: PathBuf,
        /// Number of the user.
        owner: u32,
    },
    /// The image cannot be written.
    #[error("cannot write the image: {0}")]
    Write(#[source] io::Error),
    /// The image's path names something that is not a file.
    #[error("`{}` is not a regular file, so it is not replaced; name another file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The image would break a limit of the format.
    #[error("the image would have {found} {what}, the format allows {limit}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many may be.
        limit: u64,
    },
    /// A value that was asked for means nothing.
    #[error("{what} `{found}` is wrong: {rule}")]
    Value {
        /// What the value is: `pattern`, `mode`, ...
        what: &'static str,
        /// The value.
        found: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// A line of a file that was given means nothing.
    #[error("line {line} of the {what}, `{found}`, is wrong: {rule}")]
    Line {
        /// What the file is.
        what: &'static str,
        /// The line's number, from 1.
        line: usize,
        /// The line.
        found: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// A regular expression means nothing.
    #[error("regular expression `{pattern}` is wrong: {error}")]
    Regex {
        /// The expression.
        pattern: String,
        /// What is wrong with it.
        error: Box<regex::Error>,
    },
    /// A compressor failed.
    #[error(transparent)]
    Codec(#[from] coldpress_codec::Error),
    /// The image that was written, or is to be reused, cannot be read back.
    #[error("the image cannot be read back: {0}")]
    Image(#[from] coldpress_image::Error),
    /// An image that is a source cannot be read.
    #[error("cannot read the image `{}`: {error}", path.display())]
    SourceImage {
        /// The image.
        path: PathBuf,
        /// Where and why.
        error: coldpress_image::Error,
    },
    /// The blocks of an older image cannot be copied.
    #[error(transparent)]
    NotReusable(#[from] crate::reuse::NotReusable),
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<TooMany> for Error {
    fn from(TooMany { what, found, limit }: TooMany) -> Self {
        Self::TooMany { what, found, limit }
    }
}

/// How much of a wrong value or line an error shows.
const SHOWN_MAX_BYTES: usize = 256;

/// Text for a message: escaped, and cut if it is long.
pub(crate) fn shown(text: &[u8]) -> String {
    match text.get(..SHOWN_MAX_BYTES) {
        Some(beginning) if text.len() > SHOWN_MAX_BYTES => {
            format!("{}...", beginning.escape_ascii())
        }
        _ => text.escape_ascii().to_string(),
    }
}

impl Error {
    pub(crate) fn same_name(name: &[u8]) -> Self {
        let path = OsStr::from_bytes(name).into();
        Self::SameName { path }
    }

    /// A value that means nothing.
    pub(crate) fn value(what: &'static str, found: &[u8], rule: &'static str) -> Self {
        let found = shown(found);
        Self::Value { what, found, rule }
    }
}

/// For `map_err`: the source at `path` could not be read.
pub(crate) fn source(
    action: &'static str,
    path: &std::path::Path,
) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = path.to_path_buf();
    move |error| Error::Source {
        action,
        path,
        error,
    }
}
