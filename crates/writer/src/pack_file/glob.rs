//! Adding the files of a directory that a `glob` line means.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{File, FileType, Metadata};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coldpress_layout::NodeId;

use super::apply::{Packing, refused};
use super::entry::{PackEntry, PackGlob};
use super::pattern::Matcher;
use crate::error::{self, Error};
use crate::held::{Held, Identity, Root};
use crate::scan::{Scanner, names};

/// A directory that is to be read.
struct Pending {
    node: NodeId,
    /// Where it lies.
    path: PathBuf,
    found: Identity,
    /// Its path in the image.
    name: Vec<u8>,
}

/// Adds the files that `glob` means to `directory`.
pub(super) fn glob(
    packing: &mut Packing<'_>,
    entry: &PackEntry,
    glob: &PackGlob,
    directory: NodeId,
) -> Result<(), Error> {
    let path = match &glob.location {
        Some(location) => packing.pack.directory.join(location),
        None => packing.pack.directory.clone(),
    };
    let root = Root::open(&path).map_err(error::source("read", &path))?;
    let found = root.held.identity();
    let mut globbing = Globbing {
        packing,
        entry,
        glob,
        pattern: glob.pattern.as_ref().map(Matcher::new),
        root: Arc::new(root),
        linked: HashMap::new(),
    };
    let mut pending = vec![Pending {
        node: directory,
        path,
        found,
        name: entry.path.clone(),
    }];
    while let Some(directory) = pending.pop() {
        let opened = globbing.root.list(&directory.path, directory.found);
        let opened = opened.map_err(error::source("list", &directory.path))?;
        let names = names(&opened).map_err(error::source("list", &directory.path))?;
        for name in names {
            pending.extend(globbing.file(&directory, &opened, &name)?);
        }
    }
    Ok(())
}

struct Globbing<'a, 'b> {
    packing: &'a mut Packing<'b>,
    entry: &'a PackEntry,
    glob: &'a PackGlob,
    /// What names must look like.
    pattern: Option<Matcher>,
    /// The location.
    root: Arc<Root>,
    /// Files with several names.
    linked: HashMap<Identity, NodeId>,
}

impl Globbing<'_, '_> {
    /// Adds a file if it is meant; returns it if it is a directory to be read too.
    fn file(
        &mut self,
        directory: &Pending,
        opened: &File,
        name: &[u8],
    ) -> Result<Option<Pending>, Error> {
        let path = directory.path.join(OsStr::from_bytes(name));
        let held = Held::entry(opened, name).map_err(error::source("read", &path))?;
        let metadata = &held.metadata;
        if self.glob.one_file_system && metadata.dev() != self.root.held.metadata.dev() {
            return Ok(None);
        }
        let found = self.packing.draft.child(directory.node, name);
        let in_image = if directory.name.is_empty() {
            name.to_vec()
        } else {
            [&directory.name, name].join(&b'/')
        };
        let types = &self.glob.types;
        let is_of_type = types.is_empty() || types.contains(&letter(metadata.file_type()));
        let node = if is_of_type {
            let pattern = self.pattern.as_ref();
            if !pattern.is_none_or(|pattern| pattern.matches(&in_image)) {
                return Ok(None);
            }
            self.add(directory, &path, name, &held, found)?
        } else {
            // Directories that are not meant are entered where earlier lines added them.
            match found {
                Some(node) if self.packing.draft.is_directory(node) => node,
                _ => return Ok(None),
            }
        };
        let is_entered = metadata.is_dir() && self.glob.recursive;
        Ok(is_entered.then_some(Pending {
            node,
            path,
            found: held.identity(),
            name: in_image,
        }))
    }

    fn add(
        &mut self,
        directory: &Pending,
        path: &Path,
        name: &[u8],
        held: &Held,
        found: Option<NodeId>,
    ) -> Result<NodeId, Error> {
        let metadata = &held.metadata;
        if let Some(node) = found {
            if !metadata.is_dir() || !self.packing.draft.is_directory(node) {
                return Err(refused(self.entry, EXISTS_INSIDE));
            }
            if self.packing.describe(node) {
                self.set(node, metadata);
            }
            return Ok(node);
        }
        if self.packing.is_link(directory.node, name) {
            return Err(refused(self.entry, EXISTS_INSIDE));
        }
        let identity = held.identity();
        let is_linked = metadata.nlink() > 1 && !metadata.is_dir();
        if let Some(node) = self.linked.get(&identity).filter(|_| is_linked) {
            self.packing
                .draft
                .link(directory.node, name.to_vec(), *node);
            return Ok(*node);
        }
        let (draft, options) = (&mut *self.packing.draft, self.packing.options);
        let mut quiet = |_| ControlFlow::Continue(());
        let mut scanner = Scanner::new(draft, options, &mut quiet);
        scanner.file(directory.node, path, name, held, Some(&self.root))?;
        let node = self.packing.draft.child(directory.node, name);
        let node = node.expect("the scanner names what it adds");
        self.packing.describe(node);
        if is_linked {
            self.linked.insert(identity, node);
        }
        self.set(node, metadata);
        Ok(node)
    }

    /// Gives a node the metadata of the line, and of its file where the line has a `*`.
    fn set(&mut self, node: NodeId, metadata: &Metadata) {
        let latest_s = self.packing.options.latest_time_s.unwrap_or(u32::MAX);
        let own_s = u32::try_from(metadata.mtime().max(0)).unwrap_or(u32::MAX);
        let time_s = if self.glob.keep_time {
            own_s.min(latest_s)
        } else {
            self.packing.time_s
        };
        let own_mode = u16::try_from(metadata.mode() & 0o7777).unwrap_or(0);
        let mode = if metadata.is_symlink() {
            0o777
        } else {
            self.glob.mode.unwrap_or(own_mode)
        };
        let node = &mut self.packing.draft.nodes[node.index()];
        node.mode = mode;
        node.uid = self.glob.uid.unwrap_or(metadata.uid());
        node.gid = self.glob.gid.unwrap_or(metadata.gid());
        node.mtime_s = time_s;
        node.xattrs = Arc::default();
    }
}

/// Of a file below the line's path.
const EXISTS_INSIDE: &str =
    "cannot be filled: it already has a file with the name of one at the location";

/// The letter of a type in `-type`.
fn letter(file_type: FileType) -> u8 {
    if file_type.is_dir() {
        b'd'
    } else if file_type.is_file() {
        b'f'
    } else if file_type.is_symlink() {
        b'l'
    } else if file_type.is_block_device() {
        b'b'
    } else if file_type.is_char_device() {
        b'c'
    } else if file_type.is_fifo() {
        b'p'
    } else {
        b's'
    }
}
