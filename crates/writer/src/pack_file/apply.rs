//! Entries of a pack file into a tree.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use coldpress_layout::{Kind, Node, NodeId};

use super::entry::{PackAction, PackEntry, PackObject};
use super::links::{Link, Links};
use super::{PackFile, glob};
use crate::content::Content;
use crate::draft::Draft;
use crate::error::{self, Error};
use crate::gather::SourceOptions;
use crate::held::Held;
use crate::scan::Scanner;

/// Adds what the pack file says.
///
/// Files have the metadata that the pack file gives and no extended attributes, as under
/// gensquashfs.
///
/// * `is_root_free`: whether no input says how the root directory is.
///
/// # Errors
///
/// [`Error`] if an entry cannot be followed.
pub(crate) fn apply(
    draft: &mut Draft,
    pack: &PackFile,
    options: &SourceOptions,
    is_root_free: bool,
) -> Result<(), Error> {
    let time_s = pack.time_s.min(options.latest_time_s.unwrap_or(u32::MAX));
    if is_root_free {
        draft.nodes[0].mtime_s = time_s;
    }
    let mut packing = Packing {
        draft,
        pack,
        options,
        time_s,
        described: HashSet::new(),
        links: Links::default(),
    };
    for entry in &pack.entries {
        packing.entry(entry)?;
    }
    packing.links.resolve(packing.draft)
}

pub(super) struct Packing<'a> {
    pub(super) draft: &'a mut Draft,
    pub(super) pack: &'a PackFile,
    pub(super) options: &'a SourceOptions,
    pub(super) time_s: u32,
    /// Directories that have their metadata from the pack file; they cannot get them twice.
    described: HashSet<NodeId>,
    links: Links<'a>,
}

impl<'a> Packing<'a> {
    fn entry(&mut self, entry: &'a PackEntry) -> Result<(), Error> {
        if let PackAction::Glob(glob) = &entry.action {
            let directory = self.reach(entry, &entry.path)?;
            return glob::glob(self, entry, glob, directory);
        }
        let (above, name) = match entry.path.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => (&entry.path[..slash], &entry.path[slash + 1..]),
            None => (&b""[..], entry.path.as_slice()),
        };
        let directory = self.reach(entry, above)?;
        let found = if name.is_empty() {
            Some(NodeId::ROOT)
        } else {
            self.draft.child(directory, name)
        };
        let is_link = self.links.contains(directory, name);
        match (&entry.action, found) {
            (
                PackAction::Add {
                    mode,
                    uid,
                    gid,
                    object: PackObject::Directory,
                },
                Some(node),
            ) if self.describe(node) => {
                let time_s = self.time_s;
                let node = &mut self.draft.nodes[node.index()];
                (node.mode, node.uid, node.gid) = (*mode, *uid, *gid);
                node.mtime_s = time_s;
                Ok(())
            }
            _ if found.is_some() || is_link => Err(refused(entry, EXISTS)),
            (PackAction::Link { target }, _) => {
                let place = &entry.place;
                self.links.push(Link {
                    directory,
                    name,
                    target,
                    place,
                });
                Ok(())
            }
            _ => self.add(entry, directory, name),
        }
    }

    /// Whether a hard link of this name waits for its target.
    pub(super) fn is_link(&self, directory: NodeId, name: &[u8]) -> bool {
        self.links.contains(directory, name)
    }

    /// Notes that a directory gets its metadata; `false` if it is none or has them.
    pub(super) fn describe(&mut self, node: NodeId) -> bool {
        self.draft.is_directory(node) && self.described.insert(node)
    }

    /// The directory at a path, made with those on its way if it is not there.
    fn reach(&mut self, entry: &PackEntry, path: &[u8]) -> Result<NodeId, Error> {
        let mut at = NodeId::ROOT;
        let names = path.split(|&byte| byte == b'/');
        for name in names.filter(|name| !name.is_empty()) {
            at = match self.draft.child(at, name) {
                Some(node) if self.draft.is_directory(node) => node,
                None if !self.links.contains(at, name) => {
                    let kind = Kind::Directory {
                        entries: Vec::new(),
                    };
                    let node = self.node(kind, 0o755, 0, 0, Content::Nothing)?;
                    self.draft.link(at, name.to_vec(), node);
                    node
                }
                _ => {
                    let rule = "cannot be added: something on its way is not a directory";
                    return Err(refused(entry, rule));
                }
            };
        }
        Ok(at)
    }

    fn add(&mut self, entry: &PackEntry, directory: NodeId, name: &[u8]) -> Result<(), Error> {
        let PackAction::Add {
            mode,
            uid,
            gid,
            object,
        } = &entry.action
        else {
            unreachable!("links and globs are done elsewhere");
        };
        let kind = match object {
            PackObject::File { location } => {
                let in_image = Path::new(OsStr::from_bytes(&entry.path));
                let location = location.as_deref().unwrap_or(in_image);
                let node = self.file(entry, directory, name, location)?;
                let time_s = self.time_s;
                let node = &mut self.draft.nodes[node.index()];
                (node.mode, node.uid, node.gid) = (*mode, *uid, *gid);
                node.mtime_s = time_s;
                node.xattrs = Arc::default();
                return Ok(());
            }
            PackObject::Directory => Kind::Directory {
                entries: Vec::new(),
            },
            PackObject::Symlink { target } => Kind::Symlink {
                target: target.clone(),
            },
            PackObject::BlockDevice { major, minor } => Kind::BlockDevice {
                major: *major,
                minor: *minor,
            },
            PackObject::CharDevice { major, minor } => Kind::CharDevice {
                major: *major,
                minor: *minor,
            },
            PackObject::Fifo => Kind::Fifo,
            PackObject::Socket => Kind::Socket,
        };
        let node = self.node(kind, *mode, *uid, *gid, Content::Nothing)?;
        if *object == PackObject::Directory {
            self.described.insert(node);
        }
        self.draft.link(directory, name.to_vec(), node);
        Ok(())
    }

    /// Adds a regular file of the file system; symbolic links are followed.
    fn file(
        &mut self,
        entry: &PackEntry,
        directory: NodeId,
        name: &[u8],
        location: &Path,
    ) -> Result<NodeId, Error> {
        let path = self.pack.directory.join(location);
        let path = fs::canonicalize(&path).map_err(error::source("find", &path))?;
        let held = Held::open(&path).map_err(error::source("read", &path))?;
        if !held.metadata.is_file() {
            return Err(refused(entry, "has a location that is not a regular file"));
        }
        let mut quiet = |_| ControlFlow::Continue(());
        // A scanner for each: two lines that name one file do not make a hard link.
        let mut scanner = Scanner::new(self.draft, self.options, &mut quiet);
        scanner.file(directory, &path, name, &held, None)?;
        let node = self.draft.child(directory, name);
        Ok(node.expect("the scanner names what it adds"))
    }

    fn node(
        &mut self,
        kind: Kind,
        mode: u16,
        uid: u32,
        gid: u32,
        content: Content,
    ) -> Result<NodeId, Error> {
        // Nobody asks for the permissions of a symlink, and Linux shows all of them.
        let is_symlink = matches!(kind, Kind::Symlink { .. });
        let node = Node {
            kind,
            mode: if is_symlink { 0o777 } else { mode },
            uid,
            gid,
            mtime_s: self.time_s,
            xattrs: Arc::default(),
        };
        self.draft.add(node, content)
    }
}

const EXISTS: &str = "cannot be added: it exists already";

pub(super) fn refused(entry: &PackEntry, rule: &'static str) -> Error {
    let path = if entry.path.is_empty() {
        b"/"
    } else {
        entry.path.as_slice()
    };
    Error::Definition {
        place: entry.place.clone(),
        path: OsStr::from_bytes(path).into(),
        rule,
    }
}
