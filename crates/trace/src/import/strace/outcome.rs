//! What came of a call.

use super::arguments::{Descriptor, Place, number};
use crate::import::text::split_word;

/// What came of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome<'a> {
    /// It gave a number; a descriptor may tell its file.
    Value(u64, Option<Place>),
    /// The error by its name.
    Failed(&'a [u8]),
    /// It did not return, or gave a negative number that is no error.
    Unknown,
}

/// What an error says of the name that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The directory was searched, the name is not in it.
    Missing,
    /// The inode was there.
    There,
    /// Nothing is known.
    Unknown,
}

impl<'a> Outcome<'a> {
    /// Reads what stands behind the equals sign.
    pub(super) fn parse(text: &'a [u8]) -> Self {
        if let Some(failed) = text.strip_prefix(b"-1 ") {
            return Self::Failed(split_word(failed).0);
        }
        let (word, _) = split_word(text);
        if let Some(value) = number(word) {
            return Self::Value(value, None);
        }
        // The place may have spaces: it ends with its bracket.
        match Descriptor::parse_prefix(text) {
            Some((value, place)) => Self::Value(value.into(), Some(place)),
            None => Self::Unknown,
        }
    }

    /// The number, if there is one.
    pub(super) fn value(&self) -> Option<u64> {
        match self {
            Self::Value(value, _) => Some(*value),
            _ => None,
        }
    }

    /// The number as a descriptor or a process.
    pub(super) fn small(&self) -> Option<u32> {
        u32::try_from(self.value()?).ok()
    }
}

/// What an error says of the name.
pub(super) fn found_despite(error: &[u8]) -> Found {
    match error {
        b"ENOENT" | b"ENOTDIR" => Found::Missing,
        b"EACCES" | b"EBUSY" | b"EEXIST" | b"EINVAL" | b"EISDIR" | b"ENODATA" | b"ENOEXEC"
        | b"ENXIO" | b"EOPNOTSUPP" | b"EPERM" | b"ERANGE" | b"EROFS" | b"ETXTBSY" => Found::There,
        _ => Found::Unknown,
    }
}
