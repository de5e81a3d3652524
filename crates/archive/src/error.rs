//! What is wrong with an archive, and what is not done with it.

use std::io;

use coldpress_report::text::quoted_bytes;

/// Why an archive is not read or not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It breaks a rule.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// It could be ordered, but must not be without being asked.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The medium refuses.
    #[error("cannot read byte {start}: {error}")]
    Read {
        /// Byte of the archive.
        start: u64,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The new archive cannot be written.
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
    /// The caller asked for an end.
    #[error("interrupted")]
    Interrupted,
}

/// A statement of an archive that cannot be true.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {part} at byte {start} {rule}")]
pub struct Corrupt {
    /// ``end record``, ``entry `a/b` ``, ...
    pub part: String,
    /// Byte of the archive at which it begins.
    pub start: u64,
    /// What it says.
    pub rule: Rule,
}

/// What an archive must not say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// Something is not whole.
    #[error("takes {needed} bytes, but only {room} are there")]
    CutOff {
        /// Bytes of it.
        needed: u64,
        /// Bytes up to the end of what holds it.
        room: u64,
    },
    /// Something else is there.
    #[error("does not begin with {expected}")]
    Signature {
        /// What it begins with.
        expected: &'static str,
    },
    /// Readers would take different directories.
    #[error("can be read in two ways, at byte {first} and at byte {second}; readers differ")]
    Ambiguous {
        /// One.
        first: u64,
        /// The other.
        second: u64,
    },
    /// Two places state different things.
    #[error("states {field} {found}, but {expected} is stated {elsewhere}")]
    Disagrees {
        /// What it is about.
        field: &'static str,
        /// What it says.
        found: u64,
        /// What the other says.
        expected: u64,
        /// Which other.
        elsewhere: &'static str,
    },
    /// The two names of an entry differ.
    #[error("has another name in its local header: {}", quoted_bytes(.found))]
    LocalName {
        /// The name there.
        found: Vec<u8>,
    },
    /// Two things lie on each other.
    #[error("ends at byte {end}, but {other} begins at byte {start}")]
    Overlap {
        /// Where it ends.
        end: u64,
        /// What lies there.
        other: String,
        /// Where that begins.
        start: u64,
    },
    /// More than is read.
    #[error("states {field} {found}, more than the {limit} that are read")]
    TooMuch {
        /// What it is about.
        field: &'static str,
        /// What it says.
        found: u64,
        /// How much is read.
        limit: u64,
    },
    /// It is on several disks.
    #[error("is on disk {found} of several; archives in pieces are not read")]
    Disk {
        /// Which.
        found: u64,
    },
    /// No descriptor that fits follows the data.
    #[error("has no descriptor with its CRC and its sizes at byte {place}")]
    Descriptor {
        /// Where it should be.
        place: u64,
    },
    /// The content is another one.
    #[error("has a content with CRC {found:08x}, must be {expected:08x}")]
    Crc {
        /// Of what is there.
        found: u32,
        /// Of what is stated.
        expected: u32,
    },
    /// The content has another length.
    #[error("has a content of {found} bytes or more, must be {expected}")]
    ContentBytes {
        /// What was found.
        found: u64,
        /// What is stated.
        expected: u64,
    },
    /// The content cannot be decompressed.
    #[error("cannot be decompressed: {why}")]
    Inflate {
        /// What the decompressor says.
        why: String,
    },
    /// The header of an asar archive is none.
    #[error("is no JSON object of files: {why}")]
    Json {
        /// What is wrong.
        why: String,
    },
}

/// Why an archive stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A signature says what it holds.
    #[error("is signed ({}); some readers check all bytes", quoted_bytes(.by))]
    Signed {
        /// The entry or block that says so.
        by: Vec<u8>,
    },
    /// Something must be at the beginning of the file.
    #[error("needs {what} at byte 0, where this layout has an index; use the layout `tail`")]
    NeedsBeginning {
        /// A script or an entry.
        what: String,
    },
    /// A layout of 32-bit numbers cannot hold it.
    #[error("is too large for an index at its beginning; use the layout `tail`")]
    TooLarge,
}

impl Corrupt {
    pub(crate) fn new(part: impl Into<String>, start: u64, rule: Rule) -> Self {
        Self {
            part: part.into(),
            start,
            rule,
        }
    }
}

/// ``entry `a/b` ``.
pub(crate) fn entry_part(name: &[u8]) -> String {
    format!("entry {}", quoted_bytes(name))
}
