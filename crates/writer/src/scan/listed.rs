//! Files that keep their whole paths, as tar and cpio store what they are told.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use coldpress_layout::{Node, NodeId};

use super::entry::Entry;
use super::{Pending, Scanner};
use crate::error::{self, Error};
use crate::held::{Held, Root};
use crate::select::{Found, Verdict};
use crate::warning::Warning;

impl Scanner<'_> {
    /// Adds files and directories under their whole paths, with the directories above them; what
    /// is not there becomes a warning.
    ///
    /// Leading `/`, `.` and `..` are where a path starts. Returns the directory where all of them
    /// start; `None` if that is not one, or nothing is stored.
    pub(crate) fn listed(
        &mut self,
        paths: &[PathBuf],
        is_recursive: bool,
    ) -> Result<Option<Node>, Error> {
        let mut starts: Vec<(PathBuf, Arc<Root>)> = Vec::new();
        let mut pending = Vec::new();
        for path in paths {
            let (start, names) = split(path)?;
            let known = starts.iter().find(|(known, _)| *known == start);
            let root = if let Some((_, root)) = known {
                Arc::clone(root)
            } else {
                let root = Root::open(&start).map_err(error::source("read", &start))?;
                let root = Arc::new(root);
                starts.push((start.clone(), Arc::clone(&root)));
                root
            };
            match self.place(root, start, &names) {
                Ok(found) => pending.extend(found.filter(|_| is_recursive)),
                Err(Error::Source {
                    action,
                    path,
                    error,
                }) => self.draft.warn(Warning::unreadable(action, &path, &error)),
                Err(error) => return Err(error),
            }
        }
        self.descend(pending)?;
        if self.draft.children(NodeId::ROOT).next().is_none() {
            return Ok(None);
        }
        let Some(((start, first), others)) = starts.split_first() else {
            return Ok(None);
        };
        let first = &first.held;
        if others
            .iter()
            .any(|(_, other)| other.held.identity() != first.identity())
        {
            return Ok(None);
        }
        let entry = Entry::new(start, first, self.options)?;
        entry
            .warnings
            .into_iter()
            .for_each(|it| self.draft.warn(it));
        Ok(Some(entry.node))
    }

    /// Adds what has these names below a directory, and the directories between; returns it if it
    /// is a directory whose entries are selected.
    fn place(
        &mut self,
        root: Arc<Root>,
        start: PathBuf,
        names: &[&OsStr],
    ) -> Result<Option<Pending>, Error> {
        let selection = &self.options.selection;
        let (mut path, mut node, mut below) = (start, NodeId::ROOT, selection.root(None));
        let mut found = root.held.identity();
        for (index, name) in names.iter().enumerate() {
            let directory = root.enter(&path, found);
            path.push(name);
            let name = name.as_bytes();
            let held = directory.and_then(|directory| Held::entry(&directory, name));
            let held = held.map_err(error::source("read", &path))?;
            found = held.identity();
            let is_directory = held.metadata.is_dir();
            let is_above = index + 1 < names.len();
            if is_above && !is_directory {
                let error = io::Error::from(io::ErrorKind::NotADirectory);
                return Err(error::source("enter", &path)(error));
            }
            let verdict = selection.enter(&below, &Found::new(name, &held.metadata));
            // A directory that is not entered does not lead to what is below it.
            let is_left_out = match verdict {
                Verdict::Drop => true,
                Verdict::KeepEmpty => is_above,
                Verdict::Keep(_) | Verdict::Passage(_) => false,
            };
            if is_left_out {
                return Ok(None);
            }
            // A directory of a million names is not read for each of them.
            let former = self.draft.child(node, name);
            let former = former.filter(|it| is_directory && self.draft.is_directory(*it));
            let added = match former {
                Some(former) => Some(former),
                None => self.file(node, &path, name, &held, Some(&root))?,
            };
            let (Some(added), Verdict::Keep(next) | Verdict::Passage(next)) = (added, verdict)
            else {
                return Ok(None);
            };
            (node, below) = (added, next);
        }
        Ok(Some(Pending {
            node,
            path,
            found,
            root,
            below,
        }))
    }
}

/// Where a path starts, and the names behind that.
fn split(path: &Path) -> Result<(PathBuf, Vec<&OsStr>), Error> {
    let mut start = PathBuf::new();
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name),
            other if names.is_empty() => start.push(other),
            Component::CurDir => {}
            _ => {
                let path = path.to_path_buf();
                let rule = "its path has `..` after a name";
                return Err(Error::Unstorable { path, rule });
            }
        }
    }
    if start.as_os_str().is_empty() {
        start.push(".");
    }
    Ok((start, names))
}
