//! Some entries of a directory: what one thread reads at once.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use super::entry::Entry;
use crate::error::{self, Error};
use crate::gather::SourceOptions;
use crate::select::{Below, Found, Verdict};
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
    pub(super) fn read(path: &Path, options: &SourceOptions) -> io::Result<Self> {
        let names = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().into_vec()));
        let mut names = names.collect::<io::Result<Vec<_>>>()?;
        names.sort_unstable();
        let (mut ignore_files, mut warnings) = (Vec::new(), Vec::new());
        for name in &options.selection.ignore_files {
            if names.binary_search(name).is_err() {
                continue;
            }
            let path = path.join(OsStr::from_bytes(name));
            // As git does it: neither through symlinks nor from anything but files.
            if !path.symlink_metadata().is_ok_and(|it| it.is_file()) {
                continue;
            }
            match fs::read(&path) {
                Ok(text) => ignore_files.push(text),
                Err(error) => warnings.push(Warning::unreadable("read", &path, &error)),
            }
        }
        Ok(Self {
            names,
            ignore_files,
            warnings,
        })
    }
}

/// An entry that is selected.
pub(super) struct Read {
    pub(super) name: Vec<u8>,
    /// What is behind the name, or why that cannot be read.
    pub(super) entry: Result<(Entry, Verdict), Warning>,
}

/// Reads some entries of a directory.
///
/// * `below`: what holds for them.
pub(super) fn read(
    directory: &Path,
    below: &Below,
    piece: Piece,
    options: &SourceOptions,
) -> Result<Vec<Read>, Error> {
    let mut found = Vec::with_capacity(piece.names.len());
    for name in piece.names {
        match read_entry(directory, below, &name, options) {
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
    directory: &Path,
    below: &Below,
    name: &[u8],
    options: &SourceOptions,
) -> Result<Option<(Entry, Verdict)>, Error> {
    let path = directory.join(OsStr::from_bytes(name));
    let metadata = fs::symlink_metadata(&path);
    let found = match &metadata {
        Ok(metadata) => Found::new(name, metadata),
        Err(_) => Found::unknown(name),
    };
    let verdict = options.selection.enter(below, &found);
    if matches!(verdict, Verdict::Drop) {
        return Ok(None);
    }
    let metadata = metadata.map_err(error::source("read", &path))?;
    let entry = Entry::new(&path, &metadata, options)?;
    Ok(Some((entry, verdict)))
}
