//! What an image leaves out or changes of its source.

use std::fmt;
use std::path::PathBuf;

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
        }
    }
}
