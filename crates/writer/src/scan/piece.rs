//! Some entries of a directory: what one thread reads at once.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::Dir;

use super::Pending;
use super::entry::Entry;
use crate::error::{self, Error};
use crate::gather::SourceOptions;
use crate::held::{self, Held};
use crate::select::{Found, Verdict};
use crate::warning::Warning;

/// Entries that one thread reads at once.
const PIECE_ENTRIES: usize = 256;

/// Some entries of a directory.
pub(super) struct Piece {
    /// Its place in the level.
    pub(super) directory: usize,
    names: Vec<Vec<u8>>,
}

/// The pieces in which the entries of a directory are read.
pub(super) fn split(directory: usize, names: Vec<Vec<u8>>) -> impl Iterator<Item = Piece> {
    let mut names = names.into_iter();
    std::iter::from_fn(move || {
        let names: Vec<_> = names.by_ref().take(PIECE_ENTRIES).collect();
        (!names.is_empty()).then_some(Piece { directory, names })
    })
}

/// What a directory holds.
pub(super) struct Listing {
    /// Ascending.
    pub(super) names: Vec<Vec<u8>>,
    /// The content of its ignore files.
    pub(super) ignore_files: Vec<Vec<u8>>,
    pub(super) warnings: Vec<Warning>,
}

impl Listing {
    pub(super) fn read(pending: &Pending, options: &SourceOptions) -> io::Result<Self> {
        let directory = pending.root.list(&pending.path, pending.found)?;
        let names = names(&directory)?;
        let (mut ignore_files, mut warnings) = (Vec::new(), Vec::new());
        for name in &options.selection.ignore_files {
            if names.binary_search(name).is_err() {
                continue;
            }
            // As git does it: neither through symlinks nor from anything but files.
            match read_file(&directory, name) {
                Ok(text) => ignore_files.extend(text),
                Err(error) => {
                    let path = pending.path.join(OsStr::from_bytes(name));
                    warnings.push(Warning::unreadable("read", &path, &error));
                }
            }
        }
        Ok(Self {
            names,
            ignore_files,
            warnings,
        })
    }
}

/// The names in a directory, ascending.
pub(crate) fn names(directory: &File) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(name.to_vec());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The content of a regular file; nothing if the name has something else.
fn read_file(directory: &File, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let Some(mut file) = held::open_entry(directory, name)? else {
        return Ok(None);
    };
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    Ok(Some(text))
}

/// An entry that is selected.
pub(super) struct Read {
    pub(super) name: Vec<u8>,
    /// What is behind the name, or why that cannot be read.
    pub(super) entry: Result<(Entry, Verdict), Warning>,
}

/// Reads some entries of a directory.
pub(super) fn read(
    pending: &Pending,
    piece: Piece,
    options: &SourceOptions,
) -> Result<Vec<Read>, Error> {
    let directory = match pending.root.enter(&pending.path, pending.found) {
        Ok(directory) => directory,
        Err(error) => {
            let warning = Warning::unreadable("list", &pending.path, &error);
            return Ok(vec![Read {
                name: Vec::new(),
                entry: Err(warning),
            }]);
        }
    };
    let mut found = Vec::with_capacity(piece.names.len());
    for name in piece.names {
        match read_entry(&directory, pending, &name, options) {
            Ok(Some(entry)) => found.push(Read {
                name,
                entry: Ok(entry),
            }),
            Ok(None) => {}
            Err(Error::Source {
                action,
                path,
                error,
            }) => {
                let entry = Err(Warning::unreadable(action, &path, &error));
                found.push(Read { name, entry });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// One entry; `None` if it is not selected.
fn read_entry(
    directory: &File,
    pending: &Pending,
    name: &[u8],
    options: &SourceOptions,
) -> Result<Option<(Entry, Verdict)>, Error> {
    let held = Held::entry(directory, name);
    let found = match &held {
        Ok(held) => Found::new(name, &held.metadata),
        Err(_) => Found::unknown(name),
    };
    let verdict = options.selection.enter(&pending.below, &found);
    if matches!(verdict, Verdict::Drop) {
        return Ok(None);
    }
    let path = pending.path.join(OsStr::from_bytes(name));
    let held = held.map_err(error::source("read", &path))?;
    let entry = Entry::new(&path, &held, options)?;
    Ok(Some((entry, verdict)))
}
