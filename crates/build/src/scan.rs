//! Scanning directories into a [`Draft`].
//!
//! Level by level: the directories of a level are listed in parallel, then their entries are read
//! in parallel, in pieces, so that a single directory of a million entries keeps all threads
//! busy too. Results are taken in order, so the tree does not depend on who was first.

mod entry;
mod xattrs;

pub(crate) use entry::TARGET_MAX_BYTES;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use coldpress_codec::{Workers, ordered};
use coldpress_layout::{Node, NodeId};

use crate::content::Content;
use crate::draft::Draft;
use crate::error::{self, Error};
use crate::gather::SourceOptions;
use crate::warning::Warning;
use entry::Entry;

/// Entries that one thread reads at once.
const PIECE_ENTRIES: usize = 256;
/// Pieces in flight for each thread.
const WINDOW: NonZeroUsize = NonZeroUsize::new(8).expect("8 is not 0");

/// Reads directories into a draft.
pub(crate) struct Scanner<'a> {
    draft: &'a mut Draft,
    options: &'a SourceOptions,
    progress: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    /// Nodes with several names, by device and inode number.
    linked: HashMap<(u64, u64), NodeId>,
}

/// A directory whose entries are not read yet.
struct Pending {
    node: NodeId,
    path: PathBuf,
}

/// Some entries of a directory.
struct Piece {
    /// Its place in the level.
    directory: usize,
    names: Vec<Vec<u8>>,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(
        draft: &'a mut Draft,
        options: &'a SourceOptions,
        progress: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Self {
        Self {
            draft,
            options,
            progress,
            linked: HashMap::new(),
        }
    }

    /// Adds what is in a directory to the root; returns the directory itself.
    pub(crate) fn directory(&mut self, path: &Path) -> Result<Node, Error> {
        let metadata = fs::metadata(path).map_err(error::source("read", path))?;
        let entry = Entry::new(path, &metadata, self.options)?;
        fs::read_dir(path).map_err(error::source("list", path))?;
        entry
            .warnings
            .into_iter()
            .for_each(|it| self.draft.warn(it));
        let (node, path) = (NodeId::ROOT, path.to_path_buf());
        self.descend(vec![Pending { node, path }])?;
        Ok(entry.node)
    }

    /// Adds a file, or a directory with what is in it, to the root.
    pub(crate) fn entry(&mut self, path: &Path, name: &[u8]) -> Result<(), Error> {
        let pending = self.file(NodeId::ROOT, path, name)?;
        let path = path.to_path_buf();
        let pending = pending.map(|node| Pending { node, path });
        self.descend(pending.into_iter().collect())
    }

    /// Adds a file, or a directory without what is in it, to a directory; returns it if it is a
    /// directory, whose entries may be added to it.
    pub(crate) fn file(
        &mut self,
        directory: NodeId,
        path: &Path,
        name: &[u8],
    ) -> Result<Option<NodeId>, Error> {
        let metadata = fs::symlink_metadata(path).map_err(error::source("read", path))?;
        let entry = Entry::new(path, &metadata, self.options)?;
        let parent = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let place = self.draft.disk.add_directory(parent)?;
        let file_name = path
            .file_name()
            .unwrap_or_default()
            .to_os_string()
            .into_vec();
        self.add(directory, place, &file_name, name.to_vec(), entry)
    }

    fn descend(&mut self, mut level: Vec<Pending>) -> Result<(), Error> {
        while !level.is_empty() {
            level = self.level(&level)?;
        }
        Ok(())
    }

    /// Reads the entries of some directories; returns the directories among them.
    fn level(&mut self, level: &[Pending]) -> Result<Vec<Pending>, Error> {
        let mut pieces: Vec<Piece> = Vec::new();
        let workers = Workers {
            threads: self.options.threads,
            window: self.options.threads.saturating_mul(WINDOW),
        };
        let mut unlisted = Vec::new();
        ordered::<_, _, _, Error>(
            level.iter().enumerate().map(Ok),
            &workers,
            || Ok(()),
            |(), (directory, pending)| Ok((directory, list(&pending.path))),
            |(directory, names)| {
                match names {
                    Ok(names) => pieces.extend(split(directory, names)),
                    Err(error) => {
                        unlisted.push(Warning::unreadable("list", &level[directory].path, &error));
                    }
                }
                Ok(())
            },
        )?;
        unlisted
            .into_iter()
            .for_each(|warning| self.draft.warn(warning));
        self.read(level, pieces, &workers)
    }

    fn read(
        &mut self,
        level: &[Pending],
        pieces: Vec<Piece>,
        workers: &Workers,
    ) -> Result<Vec<Pending>, Error> {
        let mut places = vec![None; level.len()];
        let mut next = Vec::new();
        let options = self.options;
        ordered(
            pieces.into_iter().map(Ok),
            workers,
            || Ok(()),
            |(), piece| {
                Ok((
                    piece.directory,
                    entries(&level[piece.directory].path, piece, options)?,
                ))
            },
            |(directory, entries)| {
                let Pending { node, path } = &level[directory];
                let place = match places[directory] {
                    Some(place) => place,
                    None => *places[directory].insert(self.draft.disk.add_directory(path.clone())?),
                };
                for (name, entry) in entries {
                    match entry {
                        Err(warning) => self.draft.warn(warning),
                        Ok(entry) => {
                            let path = path.join(std::ffi::OsString::from_vec(name.clone()));
                            let file_name = name.clone();
                            let added = self.add(*node, place, &file_name, name, entry)?;
                            next.extend(added.map(|node| Pending { node, path }));
                        }
                    }
                }
                let count = self.draft.nodes.len() as u64;
                match (self.progress)(count) {
                    ControlFlow::Continue(()) => Ok(()),
                    ControlFlow::Break(()) => Err(Error::Interrupted),
                }
            },
        )?;
        Ok(next)
    }

    /// Adds an entry to a directory; returns it if it is a directory, to be read too.
    fn add(
        &mut self,
        directory: NodeId,
        place: u32,
        file_name: &[u8],
        name: Vec<u8>,
        entry: Entry,
    ) -> Result<Option<NodeId>, Error> {
        entry
            .warnings
            .into_iter()
            .for_each(|it| self.draft.warn(it));
        if let Some(node) = entry.identity.and_then(|it| self.linked.get(&it)) {
            self.draft.link(directory, name, *node);
            return Ok(None);
        }
        // An earlier input's directory is added to.
        let former = self.draft.child(directory, &name);
        if let Some(former) = former.filter(|it| entry.is_directory && self.draft.is_directory(*it))
        {
            return Ok(Some(former));
        }
        let content = match entry.found {
            Some(found) => Content::Disk(self.draft.disk.add(place, file_name, &found)?),
            None => Content::Nothing,
        };
        let node = self.draft.add(entry.node, content)?;
        self.draft.link(directory, name, node);
        if let Some(identity) = entry.identity {
            self.linked.insert(identity, node);
        }
        Ok(entry.is_directory.then_some(node))
    }
}

/// The pieces in which the entries of a directory are read.
fn split(directory: usize, names: Vec<Vec<u8>>) -> impl Iterator<Item = Piece> {
    let mut names = names.into_iter();
    std::iter::from_fn(move || {
        let names: Vec<_> = names.by_ref().take(PIECE_ENTRIES).collect();
        (!names.is_empty()).then_some(Piece { directory, names })
    })
}

/// The names in a directory, ascending.
fn list(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let names = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().into_vec()));
    let mut names = names.collect::<io::Result<Vec<_>>>()?;
    names.sort_unstable();
    Ok(names)
}

/// Reads some entries of a directory; those that cannot be read become warnings.
#[expect(
    clippy::type_complexity,
    reason = "a name and what is behind it, or why not"
)]
fn entries(
    directory: &Path,
    piece: Piece,
    options: &SourceOptions,
) -> Result<Vec<(Vec<u8>, Result<Entry, Warning>)>, Error> {
    let read = |name: Vec<u8>| {
        let path = directory.join(std::ffi::OsString::from_vec(name.clone()));
        let entry = match fs::symlink_metadata(&path) {
            Ok(metadata) => Entry::new(&path, &metadata, options),
            Err(error) => Err(error::source("read", &path)(error)),
        };
        match entry {
            Ok(entry) => Ok((name, Ok(entry))),
            Err(Error::Source {
                action,
                path,
                error,
            }) => Ok((name, Err(Warning::unreadable(action, &path, &error)))),
            Err(error) => Err(error),
        }
    };
    piece.names.into_iter().map(read).collect()
}
