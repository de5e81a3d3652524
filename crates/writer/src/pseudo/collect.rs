//! Definitions ordered by path: which of several counts, and what needs what.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use super::definition::{Action, Definition, Object};
use crate::error::Error;
use crate::warning::Warning;

/// What is defined for one path.
#[derive(Debug, Default)]
pub(super) struct Entry<'a> {
    /// Its last name; empty of the root.
    pub(super) name: &'a [u8],
    /// The entry of its directory; of the root its own.
    pub(super) parent: usize,
    /// The definition that counts, as a place in the list; `None` for directories that only lead
    /// to others, and paths of which only extended attributes are defined.
    pub(super) definition: Option<usize>,
    /// The definitions of extended attributes.
    pub(super) xattrs: Vec<usize>,
    /// What is defined below.
    pub(super) children: BTreeMap<&'a [u8], usize>,
}

/// All paths that are defined and the directories that lead to them.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    definitions: &'a [Definition],
    /// The root first, every directory before what is in it.
    pub(super) list: Vec<Entry<'a>>,
    /// Definitions that are ignored.
    pub(super) warnings: Vec<Warning>,
}

/// Orders `definitions`. The first of several for the same path counts, as in mksquashfs; but
/// for the root directory the last.
///
/// # Errors
///
/// [`Error::Definition`] for a hard link to what is not defined before it, or to a directory.
pub(super) fn collect(definitions: &[Definition]) -> Result<Entries<'_>, Error> {
    let mut entries = Entries {
        definitions,
        list: vec![Entry::default()],
        warnings: Vec::new(),
    };
    for (index, definition) in definitions.iter().enumerate() {
        match &definition.action {
            Action::Xattr { .. } => {
                let entry = entries.reach(&definition.path);
                entries.list[entry].xattrs.push(index);
            }
            Action::Link { target } => {
                let target = entries.target(target, definition)?;
                entries.define(index, target);
            }
            _ => entries.define(index, index),
        }
    }
    Ok(entries)
}

/// The names of a path; none for the root directory.
fn names(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let names = path.split(|&byte| byte == b'/');
    names.filter(|name| !name.is_empty())
}

impl<'a> Entries<'a> {
    /// Gives the path of the definition `index` what the definition `meant` says, unless another
    /// definition forbids it.
    fn define(&mut self, index: usize, meant: usize) {
        let definition = &self.definitions[index];
        if let Some(reason) = self.objection(&definition.path, meant) {
            self.warnings.push(Warning::Definition {
                place: definition.place.clone(),
                path: shown(&definition.path),
                reason,
            });
            return;
        }
        let entry = self.reach(&definition.path);
        self.list[entry].definition = Some(meant);
    }

    /// Why the definition `meant` cannot count for `path`.
    fn objection(&self, path: &[u8], meant: usize) -> Option<&'static str> {
        let action = &self.definitions[meant].action;
        if path.is_empty() {
            let reason = "the root is a directory, and only `d` or `D` can say how it is";
            return (!is_directory(action)).then_some(reason);
        }
        let mut entry = &self.list[0];
        for name in names(path) {
            if entry.name.is_empty() || self.is_container(entry) {
                entry = &self.list[*entry.children.get(name)?];
            } else {
                return Some("an earlier definition makes its directory something else");
            }
        }
        match entry.definition {
            Some(other) if self.definitions[other].action == *action => {
                Some("an earlier definition of the path says the same")
            }
            Some(_) => Some("an earlier definition of the path counts"),
            None if !entry.children.is_empty() && !may_contain(action) => {
                Some("earlier definitions need a directory there")
            }
            None => None,
        }
    }

    fn is_container(&self, entry: &Entry<'_>) -> bool {
        let definition = entry.definition.map(|index| &self.definitions[index]);
        definition.is_none_or(|definition| may_contain(&definition.action))
    }

    /// The entry of `path`, made if it is not there.
    fn reach(&mut self, path: &'a [u8]) -> usize {
        let mut at = 0;
        for name in names(path) {
            let new = self.list.len();
            let next = *self.list[at].children.entry(name).or_insert(new);
            if next == new {
                self.list.push(Entry {
                    name,
                    parent: at,
                    ..Entry::default()
                });
            }
            at = next;
        }
        at
    }

    /// The definition that a hard link means.
    fn target(&self, target: &[u8], link: &Definition) -> Result<usize, Error> {
        let refused = |rule| Error::Definition {
            place: link.place.clone(),
            path: shown(target),
            rule,
        };
        let mut entry = Some(&self.list[0]);
        for name in names(target) {
            entry = entry.and_then(|entry| Some(&self.list[*entry.children.get(name)?]));
        }
        let meant = entry
            .and_then(|entry| entry.definition)
            .ok_or_else(|| refused("cannot be linked to: no earlier definition adds it"))?;
        if may_contain(&self.definitions[meant].action) {
            return Err(refused(
                "cannot be linked to: its definition adds a directory or changes what is there",
            ));
        }
        Ok(meant)
    }
}

/// A path as messages show it.
pub(super) fn shown(path: &[u8]) -> PathBuf {
    let path = if path.is_empty() { b"/" } else { path };
    OsStr::from_bytes(path).into()
}

fn is_directory(action: &Action) -> bool {
    matches!(
        action,
        Action::Add {
            object: Object::Directory,
            ..
        }
    )
}

/// Whether definitions of paths below may stand beside it.
fn may_contain(action: &Action) -> bool {
    is_directory(action) || matches!(action, Action::Modify(_))
}
