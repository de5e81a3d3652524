//! Adding the files of a directory that a `glob` line means.

use std::collections::HashMap;
use std::fs::{self, FileType, Metadata};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use coldpress_layout::NodeId;

use super::apply::{Packing, refused};
use super::entry::{PackEntry, PackGlob};
use super::pattern;
use crate::error::{self, Error};
use crate::scan::Scanner;

/// A directory that is to be read.
struct Pending {
    node: NodeId,
    /// Where it lies.
    path: PathBuf,
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
    let metadata = fs::metadata(&path).map_err(error::source("read", &path))?;
    let mut globbing = Globbing {
        packing,
        entry,
        glob,
        device: metadata.dev(),
        linked: HashMap::new(),
    };
    let mut pending = vec![Pending {
        node: directory,
        path,
        name: entry.path.clone(),
    }];
    while let Some(directory) = pending.pop() {
        for name in names(&directory.path)? {
            pending.extend(globbing.file(&directory, &name)?);
        }
    }
    Ok(())
}

fn names(path: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let list = |error| error::source("list", path)(error);
    let entries = fs::read_dir(path).map_err(list)?;
    let names = entries.map(|entry| Ok(entry.map_err(list)?.file_name().into_vec()));
    let mut names = names.collect::<Result<Vec<_>, Error>>()?;
    names.sort_unstable();
    Ok(names)
}

struct Globbing<'a, 'b> {
    packing: &'a mut Packing<'b>,
    entry: &'a PackEntry,
    glob: &'a PackGlob,
    /// The file system of the location.
    device: u64,
    /// Files with several names, by device and inode number.
    linked: HashMap<(u64, u64), NodeId>,
}

impl Globbing<'_, '_> {
    /// Adds a file if it is meant; returns it if it is a directory to be read too.
    fn file(&mut self, directory: &Pending, name: &[u8]) -> Result<Option<Pending>, Error> {
        let path = directory
            .path
            .join(std::ffi::OsString::from_vec(name.to_vec()));
        let metadata = fs::symlink_metadata(&path).map_err(error::source("read", &path))?;
        if self.glob.one_file_system && metadata.dev() != self.device {
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
            let pattern = self.glob.pattern.as_ref();
            if !pattern.is_none_or(|pattern| pattern::matches(pattern, &in_image)) {
                return Ok(None);
            }
            self.add(directory, &path, name, &metadata, found)?
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
            name: in_image,
        }))
    }

    fn add(
        &mut self,
        directory: &Pending,
        path: &Path,
        name: &[u8],
        metadata: &Metadata,
        found: Option<NodeId>,
    ) -> Result<NodeId, Error> {
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
        let identity = (metadata.dev(), metadata.ino());
        let is_linked = metadata.nlink() > 1 && !metadata.is_dir();
        if let Some(node) = self.linked.get(&identity).filter(|_| is_linked) {
            self.packing
                .draft
                .link(directory.node, name.to_vec(), *node);
            return Ok(*node);
        }
        let (draft, options) = (&mut *self.packing.draft, self.packing.options);
        let mut quiet = |_| ControlFlow::Continue(());
        Scanner::new(draft, options, &mut quiet).file(directory.node, path, name)?;
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
        node.xattrs.clear();
    }
}

/// Of a file below the line's path.
const EXISTS_INSIDE: &str =
    "cannot be filled: it has a file of the same name as one of the location";

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
