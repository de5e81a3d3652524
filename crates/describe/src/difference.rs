//! What differs between two images, or an image and a directory, as lines.

mod layout;
mod superblock;
mod tree;

use std::fmt;

use serde::Serialize;

pub use layout::{causes as of_layouts, unexplained};
pub use superblock::rows as of_superblocks;

/// A difference on one line: `/etc/passwd: mode 0644 -> 0600`.
#[derive(Debug, Serialize)]
pub struct DifferenceLine {
    /// The path, or the field of the superblock.
    pub name: String,
    /// What of it differs.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub what: &'static str,
    /// As it is in the first; `null` where there is nothing to show.
    pub first: Option<String>,
    /// As it is in the second.
    pub second: Option<String>,
}

impl fmt::Display for DifferenceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.name)?;
        if !self.what.is_empty() {
            write!(f, " {}", self.what)?;
        }
        match (&self.first, &self.second) {
            (Some(first), Some(second)) => write!(f, " {first} -> {second}"),
            (Some(one), None) | (None, Some(one)) => write!(f, " {one}"),
            (None, None) => Ok(()),
        }
    }
}
