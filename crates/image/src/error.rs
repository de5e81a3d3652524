//! What can go wrong when an image is read, checked or extracted.

use std::fmt::{self, Write};
use std::io;
use std::path::PathBuf;

use coldpress_format::Corrupt;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The image file cannot be opened.
    #[error("cannot open the image `{}`", PathText::of(path))]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Bytes of the image cannot be read.
    #[error("cannot read the image at byte {start}")]
    Read {
        /// Image byte of the first byte wanted.
        start: u64,
        /// Why.
        source: io::Error,
    },
    /// The image breaks a rule of the format.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// The image's compressor cannot be used.
    #[error(transparent)]
    Codec(#[from] coldpress_codec::Error),
    /// A file of the image cannot be read.
    #[error("cannot read `{}` from the image", PathText(path))]
    InFile {
        /// Path in the image.
        path: Vec<u8>,
        /// Why.
        source: Box<Error>,
    },
    /// The image has no such path.
    #[error(
        "the image has no `{}`; paths are absolute and links are not followed",
        PathText(path)
    )]
    NotFound {
        /// The path that was asked for.
        path: Vec<u8>,
    },
    /// Extraction would add to a directory that holds something.
    #[error(
        "`{}` is not empty; choose another directory or allow overwriting",
        PathText::of(path)
    )]
    NotEmpty {
        /// The destination.
        path: PathBuf,
    },
    /// Something cannot be written below the destination.
    #[error("cannot {action} `{}`", PathText(path))]
    Write {
        /// What was tried, such as `create the directory`.
        action: &'static str,
        /// The path that it was tried on.
        path: Vec<u8>,
        /// Why.
        source: io::Error,
    },
    /// An archive cannot be written.
    #[error("cannot write the archive")]
    Archive {
        /// Why.
        source: io::Error,
    },
    /// A symbolic link was left out because it leads out of the destination.
    #[error(
        "`{}` was left out: it leads out of the directory, to `{}`",
        PathText(path),
        PathText(target)
    )]
    LeadsOutside {
        /// Path in the image.
        path: Vec<u8>,
        /// Where it leads.
        target: Vec<u8>,
    },
    /// More problems than a check lists.
    #[error("{count} more problems are not listed")]
    NotListed {
        /// How many.
        count: u64,
    },
    /// The progress callback asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// The same error, with the path in the image that was being read.
    pub(crate) fn in_file(self, path: &[u8]) -> Self {
        match self {
            Self::Read { .. } | Self::Corrupt(_) | Self::Codec(_) => {
                let (path, source) = (path.to_vec(), Box::new(self));
                Self::InFile { path, source }
            }
            other => other,
        }
    }
}

/// Shows a path of raw bytes on one line.
///
/// Control characters and bytes that are not UTF-8 are escaped: names come from the image, and
/// would otherwise write to the reader's terminal as they like.
#[derive(Clone, Copy, Debug)]
pub struct PathText<'a>(pub &'a [u8]);

impl<'a> PathText<'a> {
    /// The text of a path of the file system.
    pub fn of(path: &'a std::path::Path) -> Self {
        Self(path.as_os_str().as_encoded_bytes())
    }
}

impl fmt::Display for PathText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                if character.is_control() {
                    write!(formatter, "{}", character.escape_default())?;
                } else {
                    formatter.write_char(character)?;
                }
            }
            for byte in chunk.invalid() {
                write!(formatter, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_without_control_characters() {
        for (path, text) in [
            (&b"/usr/bin"[..], "/usr/bin"),
            (b"/a\x1b[2J\n", "/a\\u{1b}[2J\\n"),
            (b"/\xff\xc3\xa9", "/\\xff\u{e9}"),
        ] {
            assert_eq!(PathText(path).to_string(), text);
        }
    }
}
