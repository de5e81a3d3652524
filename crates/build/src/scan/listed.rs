//! Files that keep their whole paths, as tar and cpio store what they are told.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use coldpress_layout::{Node, NodeId};

use super::entry::Entry;
use super::{Pending, Scanner};
use crate::error::{self, Error};
use crate::select::{Found, Verdict};
use crate::warning::Warning;

impl Scanner<'_> {
    /// Adds files and directories under their whole paths, with the directories above them; what
    /// is not there becomes a warning.
    ///
    /// Leading `/`, `.` and `..` are where a path starts. Returns the directory where all of them
    /// start; `None` if that is not one.
    pub(crate) fn listed(
        &mut self,
        paths: &[PathBuf],
        is_recursive: bool,
    ) -> Result<Option<Node>, Error> {
        let mut starts: Vec<(PathBuf, (u64, u64))> = Vec::new();
        let mut pending = Vec::new();
        for path in paths {
            let (start, names) = split(path)?;
            if !starts.iter().any(|(known, _)| *known == start) {
                let metadata = fs::metadata(&start).map_err(error::source("read", &start))?;
                starts.push((start.clone(), (metadata.dev(), metadata.ino())));
            }
            match self.place(start, &names) {
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
        let Some(((start, first), others)) = starts.split_first() else {
            return Ok(None);
        };
        if others.iter().any(|(_, other)| other != first) {
            return Ok(None);
        }
        let metadata = fs::metadata(start).map_err(error::source("read", start))?;
        let entry = Entry::new(start, &metadata, self.options)?;
        entry
            .warnings
            .into_iter()
            .for_each(|it| self.draft.warn(it));
        Ok(Some(entry.node))
    }

    /// Adds what has these names below a directory, and the directories between; returns it if it
    /// is a directory whose entries are selected.
    fn place(&mut self, start: PathBuf, names: &[&OsStr]) -> Result<Option<Pending>, Error> {
        let selection = &self.options.selection;
        let (mut path, mut node, mut below) = (start, NodeId::ROOT, selection.root(None));
        for (index, name) in names.iter().enumerate() {
            path.push(name);
            let name = name.as_bytes();
            let metadata = fs::symlink_metadata(&path).map_err(error::source("read", &path))?;
            let is_above = index + 1 < names.len();
            if is_above && !metadata.is_dir() {
                let error = io::Error::from(io::ErrorKind::NotADirectory);
                return Err(error::source("enter", &path)(error));
            }
            let verdict = selection.enter(&below, &Found::new(name, &metadata));
            if matches!(verdict, Verdict::Drop) {
                return Ok(None);
            }
            // A directory of a million names is not read for each of them.
            let former = self.draft.child(node, name);
            let former = former.filter(|it| metadata.is_dir() && self.draft.is_directory(*it));
            let added = match former {
                Some(former) => Some(former),
                None => self.file(node, &path, name)?,
            };
            let (Some(added), Verdict::Keep(next) | Verdict::Passage(next)) = (added, verdict)
            else {
                return Ok(None);
            };
            (node, below) = (added, next);
        }
        Ok(Some(Pending { node, path, below }))
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
                let rule = "its path has `..` behind a name";
                return Err(Error::Unstorable { path, rule });
            }
        }
    }
    if start.as_os_str().is_empty() {
        start.push(".");
    }
    Ok((start, names))
}
