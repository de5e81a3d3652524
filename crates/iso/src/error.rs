//! What is wrong with a file system.

/// A statement of a file system that cannot be true.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ISO 9660 {part} at byte {start} {rule}")]
pub struct Error {
    /// `volume descriptor`, `directory record`, ...
    pub part: &'static str,
    /// Byte of the file at which it begins.
    pub start: u64,
    /// What it says.
    pub rule: Rule,
}

/// What a file system must not say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// The two forms of a number differ.
    #[error("states {field} as {little} in little-endian and {big} in big-endian form")]
    BothEndian {
        /// Which number.
        field: &'static str,
        /// What it says first.
        little: u64,
        /// What it says then.
        big: u64,
    },
    /// Blocks are of a size that is not in use.
    #[error("states blocks of {found} bytes, must be 2048")]
    BlockBytes {
        /// What it says.
        found: u64,
    },
    /// No descriptor ends the list.
    #[error("is one of more than {limit}, and none of them ends the list")]
    NoEnd {
        /// How many are read.
        limit: usize,
    },
    /// The first descriptor is none of a volume.
    #[error("has type {found}, must be 1, that of the primary volume")]
    NoPrimary {
        /// What it is.
        found: u8,
    },
    /// A record is too short for what it holds.
    #[error("states {found} bytes, must be at least {expected}")]
    Short {
        /// What it says.
        found: u64,
        /// What it needs.
        expected: u64,
    },
    /// A record lies across a boundary of sectors, or goes on after the end of its directory.
    #[error("states {found} bytes, but its sector has only {room} more")]
    Crosses {
        /// What it says.
        found: u64,
        /// What there is.
        room: u64,
    },
    /// Something is not in the file.
    #[error("puts {size_bytes} bytes at byte {place}, but the file has {file_bytes}")]
    Outside {
        /// Where it should be.
        place: u64,
        /// What it should take.
        size_bytes: u64,
        /// What there is.
        file_bytes: u64,
    },
    /// Two records lead to one directory.
    #[error("leads to the directory at byte {place}, to which another record leads")]
    Cycle {
        /// Where the directory is.
        place: u64,
    },
    /// A file goes on in a record that is not there.
    #[error("is not the last of its file, but no other record of that file follows")]
    Unfinished,
    /// More than is read.
    #[error("leads to more than {limit} bytes of {what}, which are not read")]
    Many {
        /// How many are.
        limit: u64,
        /// Directories, or paths.
        what: &'static str,
    },
    /// Rock Ridge entries go on and on.
    #[error("has more than {limit} areas of Rock Ridge entries")]
    Areas {
        /// How many are read.
        limit: usize,
    },
}

impl Error {
    pub(crate) fn new(part: &'static str, start: u64, rule: Rule) -> Self {
        Self { part, start, rule }
    }
}

/// Demands that bytes are in the file; returns where they end.
pub(crate) fn check_inside(
    part: &'static str,
    start: u64,
    place: u64,
    size_bytes: u64,
    file_bytes: u64,
) -> Result<u64, Error> {
    let end = place.checked_add(size_bytes);
    end.filter(|end| *end <= file_bytes).ok_or_else(|| {
        let rule = Rule::Outside {
            place,
            size_bytes,
            file_bytes,
        };
        Error::new(part, start, rule)
    })
}
