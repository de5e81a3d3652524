//! Pseudo files: files that an image shall hold or change, described in lines of text.
//!
//! ```text
//! parse     one definition: bytes to meaning             parse.rs, value.rs
//! read      a file of definitions, and its data          file.rs
//! collect   which of several counts, what needs what     collect.rs
//! apply     to a tree                                    apply.rs, object.rs, command.rs
//! ```
//!
//! The language is that of mksquashfs 4.7, which `unsquashfs -pf` writes. Parsing asks the system
//! nothing but what [`Lookup`] says.

mod apply;
mod collect;
mod command;
mod definition;
mod file;
mod object;
mod parse;
mod value;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use apply::apply;
pub use definition::{Action, Attributes, Definition, Object};
pub use parse::Lookup;

use crate::description::{Malformed, SourceLine};
use crate::error::Error;

/// Whether the commands of `f` and `F` may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Commands {
    /// They are refused: whoever writes a pseudo file could do anything otherwise.
    #[default]
    Refused,
    /// They run by `/bin/sh -c`.
    Allowed,
}

/// Pseudo definitions and how they are applied.
#[derive(Clone, Debug)]
pub struct Pseudo {
    /// The definitions in the order in which they were given.
    pub definitions: Vec<Definition>,
    /// The data of `R` definitions.
    pub data: Vec<DataFile>,
    /// The metadata of directories that definitions need and nothing has; `None` makes a missing
    /// one an error.
    pub missing_directory: Option<Attributes>,
    /// Whether commands may run.
    pub commands: Commands,
    /// A directory for the data of pseudo files that are no regular files and for what commands
    /// print. It has no name there.
    pub scratch: PathBuf,
}

/// A pseudo file that holds data.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// Its name, for messages.
    pub path: PathBuf,
    /// The file, or a copy of its data.
    pub file: Arc<File>,
    /// Where the data begins.
    pub start_bytes: u64,
    /// How long the data is.
    pub len_bytes: u64,
}

impl Pseudo {
    /// No definitions, and no command may run.
    pub fn new(scratch: PathBuf) -> Self {
        Self {
            definitions: Vec::new(),
            data: Vec::new(),
            missing_directory: None,
            commands: Commands::Refused,
            scratch,
        }
    }

    /// Adds one definition, as an argument of the command line gives it.
    ///
    /// # Errors
    ///
    /// [`Malformed`] for the first part that is wrong.
    pub fn add(&mut self, text: &[u8], number: u64, lookup: &Lookup) -> Result<(), Malformed> {
        let place = SourceLine::Argument { number };
        let definition = parse::definition(text, &place, None, lookup)?;
        self.definitions.push(definition);
        Ok(())
    }

    /// Adds the definitions of a file, and keeps it if it holds data.
    ///
    /// * `path`: the name for messages.
    ///
    /// # Errors
    ///
    /// [`Error`] if the file cannot be read, breaks a rule, or ends before its data does.
    pub fn read(&mut self, file: File, path: &Path, lookup: &Lookup) -> Result<(), Error> {
        file::read(self, file, path, lookup)
    }

    /// Whether there is nothing to apply.
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }
}

/// Parses the metadata for [`Pseudo::missing_directory`]: `d mode uid gid` or `D time mode uid
/// gid`.
///
/// # Errors
///
/// [`Malformed`] for the first part that is wrong.
pub fn parse_directory(text: &[u8], lookup: &Lookup) -> Result<Attributes, Malformed> {
    parse::directory(text, &SourceLine::Argument { number: 1 }, lookup)
}

#[cfg(test)]
mod tests;
