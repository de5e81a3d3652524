//! Definitions into a tree.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::ffi::OsStrExt as _;

use coldpress_layout::NodeId;

use super::collect::{Entries, Entry, collect, shown};
use super::command::Outputs;
use super::object::directory_kind;
use super::{Action, Attributes, Definition, Pseudo};
use crate::content::{Content, StoreId};
use crate::draft::Draft;
use crate::error::Error;
use crate::gather::SourceOptions;
use crate::overrides::{has_user_xattrs, set_xattr};
use crate::warning::Warning;

/// Adds and changes what the definitions say.
///
/// * `is_root_free`: whether no input says how the root directory is, so that a definition must.
///
/// # Errors
///
/// [`Error`] if a definition cannot be followed; those that only have no effect become warnings.
pub(crate) fn apply(
    draft: &mut Draft,
    pseudo: &Pseudo,
    options: &SourceOptions,
    is_root_free: bool,
) -> Result<(), Error> {
    let mut entries = collect(&pseudo.definitions)?;
    let warnings = std::mem::take(&mut entries.warnings);
    for warning in warnings {
        draft.warn(warning);
    }
    let time_s = newest_s(draft, pseudo);
    let mut applying = Applying {
        draft,
        pseudo,
        options,
        entries: &entries,
        time_s,
        nodes: vec![None; entries.list.len()],
        made: BTreeMap::new(),
        stores: vec![None; pseudo.data.len()],
        outputs: Outputs::default(),
        linked: HashMap::new(),
    };
    applying.root(is_root_free)?;
    for (index, entry) in entries.list.iter().enumerate().skip(1) {
        applying.nodes[index] = applying.entry(entry)?;
    }
    // Last, so that they reach what hard links name too.
    applying.xattrs()
}

/// The time of what is defined without one: the newest of the tree and of the definitions that have
/// one, since the clock would make equal builds differ.
fn newest_s(draft: &Draft, pseudo: &Pseudo) -> u32 {
    let defined = pseudo.definitions.iter().filter_map(|it| match &it.action {
        Action::Add { attributes, .. } | Action::Modify(attributes) => attributes.time_s,
        _ => None,
    });
    let found = draft.nodes.iter().map(|node| node.mtime_s);
    found.chain(defined).max().unwrap_or(0)
}

pub(super) struct Applying<'a> {
    pub(super) draft: &'a mut Draft,
    pub(super) pseudo: &'a Pseudo,
    pub(super) options: &'a SourceOptions,
    pub(super) entries: &'a Entries<'a>,
    /// The time of what is defined without one.
    pub(super) time_s: u32,
    /// For each entry its node, where there is one.
    pub(super) nodes: Vec<Option<NodeId>>,
    /// What definitions made, for hard links.
    pub(super) made: BTreeMap<usize, NodeId>,
    /// For each pseudo file with data its store.
    pub(super) stores: Vec<Option<StoreId>>,
    pub(super) outputs: Outputs,
    /// Files from outside, by device and inode number.
    pub(super) linked: HashMap<(u64, u64), NodeId>,
}

impl Applying<'_> {
    fn root(&mut self, is_free: bool) -> Result<(), Error> {
        let defined = self.entries.list[0].definition;
        let definition = defined.map(|index| &self.pseudo.definitions[index]);
        self.nodes[0] = Some(NodeId::ROOT);
        match definition {
            Some(definition) if !is_free => {
                self.ignored(definition, "the source describes the root already");
            }
            Some(Definition {
                action: Action::Add { attributes, .. },
                ..
            }) => self.change(NodeId::ROOT, attributes, true),
            _ if is_free => match &self.pseudo.missing_directory {
                Some(attributes) => self.change(NodeId::ROOT, attributes, true),
                None => return Err(Error::NoRoot),
            },
            _ => {}
        }
        Ok(())
    }

    /// Does what is defined for a path; returns the node that it then has.
    fn entry(&mut self, entry: &Entry<'_>) -> Result<Option<NodeId>, Error> {
        // A directory that is not there is an error before anything in it is looked at.
        let Some(directory) = self.nodes[entry.parent] else {
            return Ok(None);
        };
        let found = self.draft.child(directory, entry.name);
        if found.is_some_and(|node| !entry.children.is_empty() && !self.draft.is_directory(node)) {
            return Err(self.unmet(entry, "is not a directory, as definitions need it to be"));
        }
        let definition = entry
            .definition
            .map(|it| (it, &self.pseudo.definitions[it]));
        let added = match (found, definition) {
            (
                Some(node),
                Some((
                    _,
                    Definition {
                        action: Action::Modify(attributes),
                        ..
                    },
                )),
            ) => {
                self.change(node, attributes, false);
                return Ok(Some(node));
            }
            (Some(node), Some((_, definition))) => {
                self.ignored(
                    definition,
                    "it is in the source; exclude it there to add this one",
                );
                return Ok(Some(node));
            }
            (Some(node), None) => return Ok(Some(node)),
            (None, Some((index, definition))) => self.add(entry, directory, index, definition)?,
            (None, None) => match &self.pseudo.missing_directory {
                Some(attributes) => {
                    Some(self.node(directory_kind(), attributes, Content::Nothing)?)
                }
                None if entry.children.is_empty() => None,
                None => return Err(self.unmet(entry, MISSING)),
            },
        };
        if let Some(node) = added {
            self.draft.link(directory, entry.name.to_vec(), node);
        }
        Ok(added)
    }

    /// Makes the node of a definition, or finds it if the definition made it before.
    fn add(
        &mut self,
        entry: &Entry<'_>,
        directory: NodeId,
        index: usize,
        definition: &Definition,
    ) -> Result<Option<NodeId>, Error> {
        if let Some(node) = self.made.get(&index) {
            return Ok(Some(*node));
        }
        let node = match &definition.action {
            Action::Add { attributes, object } => {
                let (kind, content) = self.object(definition, object)?;
                self.node(kind, attributes, content)?
            }
            Action::Disk { path, follow } => {
                self.disk(directory, entry.name, definition, path, *follow)?
            }
            _ if entry.children.is_empty() => {
                self.ignored(definition, "it is not in the source");
                return Ok(None);
            }
            _ => return Err(self.unmet(entry, MISSING)),
        };
        self.made.insert(index, node);
        Ok(Some(node))
    }

    /// * `is_new`: whether the node has no time yet.
    fn change(&mut self, node: NodeId, attributes: &Attributes, is_new: bool) {
        let time_s = attributes.time_s.or(is_new.then_some(self.time_s));
        let time_s = time_s.map(|time_s| self.time_s(time_s));
        let node = &mut self.draft.nodes[node.index()];
        node.mode = attributes.mode;
        (node.uid, node.gid) = (attributes.uid, attributes.gid);
        node.mtime_s = time_s.unwrap_or(node.mtime_s);
    }

    pub(super) fn time_s(&self, time_s: u32) -> u32 {
        time_s.min(self.options.latest_time_s.unwrap_or(u32::MAX))
    }

    fn xattrs(&mut self) -> Result<(), Error> {
        let mut refused = Vec::new();
        for (entry, node) in self.entries.list.iter().zip(&self.nodes) {
            for &index in &entry.xattrs {
                let definition = &self.pseudo.definitions[index];
                let Action::Xattr { name, value } = &definition.action else {
                    unreachable!("only these are kept as such");
                };
                let node = node.ok_or_else(|| Error::Definition {
                    place: definition.place.clone(),
                    path: shown(&definition.path),
                    rule: "does not exist, so it can have no extended attribute",
                })?;
                let node = &mut self.draft.nodes[node.index()];
                if name.starts_with(b"user.") && !has_user_xattrs(node) {
                    refused.push(definition);
                } else if self.options.xattrs {
                    set_xattr(&mut node.xattrs, name, value);
                    self.draft.xattrs.share(&mut node.xattrs);
                }
            }
        }
        for definition in refused {
            self.ignored(
                definition,
                "only files and directories have xattrs `user.*`",
            );
        }
        Ok(())
    }

    fn ignored(&mut self, definition: &Definition, reason: &'static str) {
        self.draft.warn(Warning::Definition {
            place: definition.place.clone(),
            path: shown(&definition.path),
            reason,
        });
    }

    /// That a path is not what the definitions of it and below it need.
    fn unmet(&self, entry: &Entry<'_>, rule: &'static str) -> Error {
        let mut path = vec![entry.name];
        let mut above = entry;
        while above.parent != 0 {
            above = &self.entries.list[above.parent];
            path.push(above.name);
        }
        path.reverse();
        let mut asking = entry;
        let index = loop {
            let own = asking.definition.or(asking.xattrs.first().copied());
            match (own, asking.children.values().next()) {
                (Some(index), _) => break index,
                (None, Some(child)) => asking = &self.entries.list[*child],
                (None, None) => unreachable!("entries without definitions lead to some"),
            }
        };
        Error::Definition {
            place: self.pseudo.definitions[index].place.clone(),
            path: std::ffi::OsStr::from_bytes(&path.join(&b'/')).into(),
            rule,
        }
    }
}

const MISSING: &str = "does not exist, but definitions need it; define it as `d` before them, or \
                       state what missing directories are like";
