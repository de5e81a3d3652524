//! What is wrong with a `meta/snap.yaml`.

/// Why the file is not that of a snap.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is longer than any.
    #[error("meta/snap.yaml has {found} bytes, more than {limit} are not read")]
    Long {
        /// What it has.
        found: u64,
        /// What is read.
        limit: u64,
    },
    /// It is no text.
    #[error("meta/snap.yaml is not UTF-8 at byte {start}")]
    Text {
        /// The first byte that is wrong.
        start: usize,
    },
    /// It is no YAML, or of a kind that no snap needs.
    #[error("meta/snap.yaml, line {line}: {why}")]
    Yaml {
        /// Counted from 1.
        line: usize,
        /// What the parser says.
        why: String,
    },
    /// Something is not there.
    #[error("meta/snap.yaml has no `{field}`")]
    Missing {
        /// What it is called.
        field: &'static str,
    },
    /// Something has a value that snapd refuses.
    #[error("meta/snap.yaml, line {line}: `{field}` is `{}`, must be \
    {expected}", found.escape_debug())]
    Value {
        /// Counted from 1.
        line: usize,
        /// What it is called.
        field: &'static str,
        /// Its value, up to 64 characters.
        found: String,
        /// What it may be.
        expected: &'static str,
    },
    /// Variables or arguments become longer than a program can be given.
    #[error("what meta/snap.yaml says of a start becomes longer than {limit} bytes")]
    Expanded {
        /// What a program can be given.
        limit: usize,
    },
}
