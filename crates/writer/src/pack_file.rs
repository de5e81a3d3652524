//! Pack files: a whole tree described in lines of text, as gensquashfs reads it.
//!
//! ```text
//! parse     lines to entries                             parse.rs, parse/glob.rs
//! apply     entries to a tree                            apply.rs, links.rs
//! glob      files of a directory, chosen by patterns     glob.rs, pattern.rs
//! ```
//!
//! The language is that of squashfs-tools-ng 1.3; what its next version reads is understood too.

mod apply;
mod entry;
mod glob;
mod links;
mod parse;
mod pattern;

use std::path::{Path, PathBuf};

pub use entry::{PackAction, PackEntry, PackGlob, PackObject, PackPattern};

pub(crate) use apply::apply;

use crate::error::Error;

/// A pack file and how it is applied.
#[derive(Clone, Debug)]
pub struct PackFile {
    /// Its entries in their order.
    pub entries: Vec<PackEntry>,
    /// What locations of files are relative to.
    pub directory: PathBuf,
    /// The modification time of everything but what `-keeptime` keeps, in s since 1970.
    pub time_s: u32,
}

impl PackFile {
    /// Parses a pack file.
    ///
    /// * `path`: its name for messages.
    /// * `directory`: what locations of files are relative to.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] for the first part that breaks a rule.
    pub fn parse(bytes: &[u8], path: &Path, directory: PathBuf) -> Result<Self, Error> {
        Ok(Self {
            entries: parse::parse(bytes, path)?,
            directory,
            time_s: 0,
        })
    }
}

#[cfg(test)]
mod tests;
