//! What can be wrong with a tar archive.

/// The rule that a tar archive breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TarDefect {
    /// There are no bytes at all, as where the program before a pipe failed.
    #[error(
        "the input is empty, without even the end of an archive; check the program that should \
         have written it"
    )]
    Empty,
    /// The first block is no header.
    #[error("this is not a tar archive: it begins with neither a header nor a known compression")]
    NotTar,
    /// The archive ends early.
    #[error("the archive ends within {what}; fetch or make it again")]
    Truncated {
        /// What is not whole.
        what: &'static str,
    },
    /// A header is damaged.
    #[error("a header's checksum is {found}, must be {expected}; the archive is damaged here")]
    Checksum {
        /// The sum of the header's bytes.
        expected: u64,
        /// What the header says.
        found: String,
    },
    /// A number that is none, or outside of what it may be.
    #[error("{field} is `{found}`, must be {rule}")]
    Number {
        /// Whose value it is.
        field: &'static str,
        /// The value, escaped.
        found: String,
        /// What it must be.
        rule: &'static str,
    },
    /// An extended header that is too large to be one.
    #[error("{what} has {found_bytes} bytes, limit is {limit_bytes}")]
    TooLarge {
        /// The kind of header.
        what: &'static str,
        /// Its size.
        found_bytes: u64,
        /// The largest that is read.
        limit_bytes: u64,
    },
    /// An extended header that is not a list of `length key=value` lines.
    #[error("a pax header has no record `length key=value` at its byte {offset_bytes}")]
    Record {
        /// Where the record should begin, from the first byte of the extended header.
        offset_bytes: u64,
    },
    /// The map of a sparse file makes no sense.
    #[error("the map of the sparse file `{path}` is wrong: {rule}")]
    SparseMap {
        /// The file.
        path: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// A path that leads out of the archive.
    #[error("the path `{path}` has a component `..`; such archives are refused")]
    ParentComponent {
        /// The path, escaped.
        path: String,
    },
    /// A path through something that is no directory.
    #[error("`{path}` is below something that is not a directory")]
    NotADirectory {
        /// The path, escaped.
        path: String,
    },
    /// A whiteout that hides nothing that there could be.
    #[error(
        "the whiteout `{path}` names no file; the layer is damaged or was made by a broken tool"
    )]
    Whiteout {
        /// The path, escaped.
        path: String,
    },
    /// Something other than a directory that has the place of the root.
    #[error("the root is not a directory")]
    RootKind,
    /// A part of an archive in several volumes.
    #[error("the archive continues another volume; join the volumes with `tar -M` first")]
    Volume,
}
