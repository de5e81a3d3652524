//! Scanning directories into a [`Draft`].
//!
//! Level by level: the directories of a level are listed in parallel, then their entries are read
//! in parallel, in pieces, so that a single directory of a million entries keeps all threads
//! busy too. Results are taken in order, so the tree does not depend on who was first. What is not
//! selected is left out before more than its type is read.
//!
//! Whoever may write to a source may rename what is in it meanwhile. Directories are found below
//! that of the source without following links, and are those that were found, or not entered; each
//! entry is opened once as a place, of which everything else is read.

mod entry;
mod listed;
mod piece;
mod xattrs;

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coldpress_codec::{Workers, ordered};
use coldpress_layout::{Node, NodeId};

use crate::content::Content;
use crate::draft::Draft;
use crate::error::{self, Error};
use crate::gather::SourceOptions;
use crate::held::{Held, Identity, Root};
use crate::select::{Below, Found, Verdict};
use crate::warning::Warning;
use entry::Entry;
pub(crate) use entry::{TARGET_MAX_BYTES, time};
pub(crate) use piece::names;
use piece::{Listing, Piece, Read, split};

/// Pieces in flight for each thread.
const WINDOW: NonZeroUsize = NonZeroUsize::new(8).expect("8 is not 0");

/// Reads directories into a draft.
pub(crate) struct Scanner<'a> {
    draft: &'a mut Draft,
    options: &'a SourceOptions,
    progress: &'a mut dyn FnMut(u64) -> ControlFlow<()>,
    /// Directories that stay only if something below does: parent, name, node.
    passages: Vec<(NodeId, Vec<u8>, NodeId)>,
}

/// A directory whose entries are not read yet.
struct Pending {
    node: NodeId,
    path: PathBuf,
    found: Identity,
    /// The directory that it was found below.
    root: Arc<Root>,
    /// What holds for its entries.
    below: Below,
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
            passages: Vec::new(),
        }
    }

    /// Adds what is in a directory to the root; returns the directory itself.
    pub(crate) fn directory(&mut self, path: &Path) -> Result<Node, Error> {
        let root = Root::open(path).map_err(error::source("read", path))?;
        let entry = Entry::new(path, &root.held, self.options)?;
        let found = root.held.identity();
        root.list(path, found)
            .map_err(error::source("list", path))?;
        for warning in entry.warnings {
            self.draft.warn(warning);
        }
        self.descend(vec![Pending {
            node: NodeId::ROOT,
            path: path.to_path_buf(),
            found,
            below: self.options.selection.root(Some(found.0)),
            root: Arc::new(root),
        }])?;
        Ok(entry.node)
    }

    /// Adds a file, or a directory with what is in it, to the root, if it is selected.
    pub(crate) fn entry(&mut self, path: &Path, name: &[u8]) -> Result<(), Error> {
        let held = Held::open(path).map_err(error::source("read", path))?;
        let selection = &self.options.selection;
        let verdict = selection.enter(&selection.root(None), &Found::new(name, &held.metadata));
        if matches!(verdict, Verdict::Drop) {
            return Ok(());
        }
        let node = self.file(NodeId::ROOT, path, name, &held, None)?;
        let path = path.to_path_buf();
        let pending = self.below(NodeId::ROOT, name, node, verdict);
        let pending = pending.map(|(node, below)| Pending {
            node,
            found: held.identity(),
            root: Arc::new(Root::new(held, path.clone())),
            path,
            below,
        });
        self.descend(pending.into_iter().collect())
    }

    /// Adds a file, or a directory without what is in it, to a directory, selected or not; returns
    /// it if it is a directory, whose entries may be added to it.
    ///
    /// * `root`: the directory that it was found below; none if a caller named it.
    pub(crate) fn file(
        &mut self,
        directory: NodeId,
        path: &Path,
        name: &[u8],
        held: &Held,
        root: Option<&Arc<Root>>,
    ) -> Result<Option<NodeId>, Error> {
        let entry = Entry::new(path, held, self.options)?;
        let parent = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let place = self.draft.disk.add_directory(parent, root)?;
        let file_name = path
            .file_name()
            .unwrap_or_default()
            .to_os_string()
            .into_vec();
        self.add(directory, place, &file_name, name.to_vec(), entry)
    }

    fn descend(&mut self, mut level: Vec<Pending>) -> Result<(), Error> {
        while !level.is_empty() {
            level = self.level(&mut level)?;
        }
        // The deepest first: what leads to nothing may itself be all there is above.
        while let Some((directory, name, node)) = self.passages.pop() {
            if self.draft.children(node).next().is_none() {
                self.draft.unlink(directory, &name);
            }
        }
        Ok(())
    }

    /// Reads the entries of some directories; returns the directories among them.
    fn level(&mut self, level: &mut [Pending]) -> Result<Vec<Pending>, Error> {
        let mut pieces: Vec<Piece> = Vec::new();
        let workers = Workers {
            threads: self.options.threads,
            window: self.options.threads.saturating_mul(WINDOW),
        };
        let options = self.options;
        let mut unlisted = Vec::new();
        let mut ignored = Vec::new();
        ordered::<_, _, _, Error>(
            level.iter().enumerate().map(Ok),
            &workers,
            || Ok(()),
            |(), (directory, pending)| Ok((directory, Listing::read(pending, options))),
            |(directory, listing)| {
                match listing {
                    Ok(listing) => {
                        let texts = listing.ignore_files.into_iter();
                        ignored.extend(texts.map(|text| (directory, text)));
                        unlisted.extend(listing.warnings);
                        pieces.extend(split(directory, listing.names));
                    }
                    Err(error) => {
                        unlisted.push(Warning::unreadable("list", &level[directory].path, &error));
                    }
                }
                Ok(())
            },
        )?;
        for (directory, text) in ignored {
            level[directory].below.ignore(&text)?;
        }
        for warning in unlisted {
            self.draft.warn(warning);
        }
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
                let directory = piece.directory;
                Ok((directory, piece::read(&level[directory], piece, options)?))
            },
            |(directory, entries)| {
                let Pending {
                    node, path, root, ..
                } = &level[directory];
                let place = if let Some(place) = places[directory] {
                    place
                } else {
                    let place = self.draft.disk.add_directory(path.clone(), Some(root))?;
                    *places[directory].insert(place)
                };
                for Read { name, entry } in entries {
                    match entry {
                        Err(warning) => self.draft.warn(warning),
                        Ok((entry, verdict)) => {
                            let path = path.join(OsStr::from_bytes(&name));
                            let found = entry.identity;
                            let added = self.add(*node, place, &name, name.clone(), entry)?;
                            let pending = self.below(*node, &name, added, verdict);
                            next.extend(pending.map(|(node, below)| Pending {
                                node,
                                path,
                                found,
                                root: Arc::clone(root),
                                below,
                            }));
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
        for warning in entry.warnings {
            self.draft.warn(warning);
        }
        let identity = entry.is_linked.then_some(entry.identity);
        if let Some(node) = identity.and_then(|it| self.draft.linked.get(&it).copied()) {
            self.draft.link(directory, name, node);
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
        if let Some(identity) = identity {
            self.draft.linked.insert(identity, node);
        }
        Ok(entry.is_directory.then_some(node))
    }

    /// The directory that was added under a name and what holds below it, if it is to be read.
    ///
    /// * `added`: what [`Scanner::add`] returned.
    fn below(
        &mut self,
        directory: NodeId,
        name: &[u8],
        added: Option<NodeId>,
        verdict: Verdict,
    ) -> Option<(NodeId, Below)> {
        let node = added?;
        match verdict {
            Verdict::Keep(below) => Some((node, below)),
            Verdict::Passage(below) => {
                self.passages.push((directory, name.to_vec(), node));
                Some((node, below))
            }
            Verdict::KeepEmpty | Verdict::Drop => None,
        }
    }
}
