//! Entries to nodes of a draft: paths, parents, links, limits.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coldpress_format::{DeviceNumber, XattrPrefix, is_legal_name};
use coldpress_layout::{Kind, Node, NodeId};

use super::TarDefaults;
use super::defect::TarDefect;
use super::entry::{Entry, EntryKind};
use crate::content::Content;
use crate::draft::Draft;
use crate::error::Error;
use crate::gather::SourceOptions;
use crate::layers::upper::Upper;
use crate::scan::{TARGET_MAX_BYTES, time};
use crate::warning::Warning;

/// The kernel takes no longer path in a call. A limit is needed: each directory of a path that
/// has none costs a hundred times the two bytes that name it.
const PATH_MAX_BYTES: usize = 4095;
/// The longest name and the largest value of an xattr on Linux.
const XATTR_NAME_MAX_BYTES: usize = 255;
const XATTR_VALUE_MAX_BYTES: usize = 65_536;

/// Puts the entries of an archive into a draft.
pub(crate) struct Unpacker<'a> {
    pub(crate) draft: &'a mut Draft,
    options: &'a SourceOptions,
    defaults: TarDefaults,
    /// The archive's name, for messages.
    pub(crate) archive: PathBuf,
    /// What the archive says about the root.
    pub(crate) root: Option<Node>,
    /// If the archive is a layer on top of others.
    pub(crate) upper: Option<Upper>,
    /// Hard links to what was not there yet, by its path.
    waiting: BTreeMap<Vec<u8>, Vec<Waiting>>,
}

/// A hard link without a node.
struct Waiting {
    at_bytes: u64,
    path: Vec<u8>,
    directory: NodeId,
    name: Vec<u8>,
}

impl<'a> Unpacker<'a> {
    pub(crate) fn new(
        draft: &'a mut Draft,
        options: &'a SourceOptions,
        defaults: TarDefaults,
        archive: PathBuf,
    ) -> Self {
        Self {
            draft,
            options,
            defaults,
            archive,
            root: None,
            upper: None,
            waiting: BTreeMap::new(),
        }
    }

    /// Adds an entry; what had its name before loses it, but directories are added to.
    ///
    /// * `content`: of a regular file.
    pub(crate) fn add(&mut self, entry: Entry, content: Content) -> Result<(), Error> {
        let names = self.components(entry.at_bytes, &entry.path)?;
        let Some((name, parents)) = names.split_last() else {
            return self.set_root(entry);
        };
        if self.upper.is_some() && self.hides(&entry, &names)? {
            return Ok(());
        }
        if let EntryKind::Unknown(kind) = entry.kind {
            let kind = kind.escape_ascii();
            let text = format!("is of the unknown type `{kind}`, and is left out");
            self.warn(entry.at_bytes, &entry.path, &text);
            return Ok(());
        }
        let directory = self.parent(&entry, parents)?;
        if let EntryKind::HardLink { target } = &entry.kind {
            let (at_bytes, path) = (entry.at_bytes, entry.path);
            let name = name.clone();
            let link = Waiting {
                at_bytes,
                path,
                directory,
                name,
            };
            let target = joined(&self.components(at_bytes, target)?);
            self.link(link, target);
            return Ok(());
        }
        let former = self.draft.child(directory, name);
        let former = former.filter(|former| self.draft.is_directory(*former));
        let is_directory = matches!(entry.kind, EntryKind::Directory);
        let node = self.node(entry)?;
        if let Some(former) = former.filter(|_| is_directory) {
            self.draft.nodes[former.index()] = node;
            self.own(directory, name);
            return Ok(());
        }
        let node = self.draft.add(node, content)?;
        self.put(directory, name.clone(), node);
        Ok(())
    }

    /// Gives a node a name that is this archive's.
    pub(crate) fn put(&mut self, directory: NodeId, name: Vec<u8>, node: NodeId) {
        self.own(directory, &name);
        self.draft.link(directory, name, node);
    }

    /// Notes that a name is this archive's.
    pub(crate) fn own(&mut self, directory: NodeId, name: &[u8]) {
        if let Some(upper) = &mut self.upper {
            upper.own(directory, name);
        }
    }

    /// Whether a name is given to something else than what may be below.
    fn is_taken(&self, directory: NodeId, name: &[u8]) -> bool {
        match &self.upper {
            Some(upper) => upper.is_own(directory, name),
            None => self.draft.child(directory, name).is_some(),
        }
    }

    /// Makes the hard links whose targets came later; others are left out.
    pub(crate) fn finish(&mut self) {
        let found = |draft: &Draft, target: &[u8]| draft.find(target);
        let waiting = self.waiting.keys();
        let mut ready: Vec<Vec<u8>> = waiting
            .filter(|target| found(self.draft, target).is_some())
            .cloned()
            .collect();
        ready.reverse();
        while let Some(target) = ready.pop() {
            let Some(node) = found(self.draft, &target) else {
                continue;
            };
            for link in self.waiting.remove(&target).unwrap_or_default() {
                if self.draft.is_directory(node) {
                    self.warn_link(&link, &target);
                } else if !self.is_taken(link.directory, &link.name) {
                    self.put(link.directory, link.name, node);
                    // Other links may have waited for this one.
                    ready.extend(self.normal(&link.path));
                }
            }
        }
        for (target, links) in std::mem::take(&mut self.waiting) {
            for link in &links {
                self.warn_link(link, &target);
            }
        }
    }

    fn link(&mut self, link: Waiting, target: Vec<u8>) {
        match self.draft.find(&target) {
            Some(node) if self.draft.is_directory(node) => self.warn_link(&link, &target),
            Some(node) => self.put(link.directory, link.name, node),
            None => self.waiting.entry(target).or_default().push(link),
        }
    }

    fn warn_link(&mut self, link: &Waiting, target: &[u8]) {
        let target = target[1..].escape_ascii();
        let text = format!(
            "is a hard link to `{target}`, which is not a file of the archive, and is left out"
        );
        self.warn(link.at_bytes, &link.path, &text);
    }

    fn set_root(&mut self, entry: Entry) -> Result<(), Error> {
        if !matches!(entry.kind, EntryKind::Directory) {
            return Err(self.error(entry.at_bytes, TarDefect::RootKind));
        }
        self.root = Some(self.node(entry)?);
        Ok(())
    }

    /// The directory at a path. What is missing of it is made, with the time of the entry.
    fn parent(&mut self, entry: &Entry, names: &[Vec<u8>]) -> Result<NodeId, Error> {
        if self.upper.is_some() {
            return self.parent_in_layer(entry, names);
        }
        let mut directory = NodeId::ROOT;
        for name in names {
            directory = match self.draft.child(directory, name) {
                Some(node) if self.draft.is_directory(node) => node,
                Some(_) => {
                    let path = entry.path.escape_ascii().to_string();
                    return Err(self.error(entry.at_bytes, TarDefect::NotADirectory { path }));
                }
                None => self.imply(entry, directory, name)?,
            };
        }
        Ok(directory)
    }

    /// Makes a directory that the archive does not describe.
    pub(crate) fn imply(
        &mut self,
        entry: &Entry,
        directory: NodeId,
        name: &[u8],
    ) -> Result<NodeId, Error> {
        let node = self.defaults.node(self.clamped(entry.mtime_s));
        let node = self.draft.add(node, Content::Nothing)?;
        self.put(directory, name.to_vec(), node);
        Ok(node)
    }

    fn node(&mut self, entry: Entry) -> Result<Node, Error> {
        let path = path(&entry.path);
        let mut warnings = Vec::new();
        let mtime_s = time(&path, entry.mtime_s, self.options, &mut warnings);
        for warning in warnings {
            self.draft.warn(warning);
        }
        let id = |id: i64| {
            u32::try_from(id).map_err(|_| Error::Unstorable {
                path: path.clone(),
                rule: "its owner or group is not from 0 to 4294967295",
            })
        };
        let (uid, gid) = (id(entry.uid)?, id(entry.gid)?);
        Ok(Node {
            mode: entry.mode,
            uid,
            gid,
            mtime_s,
            xattrs: Arc::new(self.xattrs(entry.at_bytes, &entry.path, entry.xattrs, &entry.acls)),
            kind: kind(&path, entry.kind)?,
        })
    }

    /// The xattrs that the format and the kernel can hold.
    fn xattrs(
        &mut self,
        at_bytes: u64,
        path: &[u8],
        mut xattrs: Vec<(Vec<u8>, Vec<u8>)>,
        acls: &[&'static str],
    ) -> Vec<(Vec<u8>, Vec<u8>)> {
        if !self.options.xattrs {
            return Vec::new();
        }
        let lost: Vec<_> = xattrs
            .extract_if(.., |(name, _)| XattrPrefix::split(name).is_none())
            .map(|(name, _)| name)
            .chain(acls.iter().map(|acl| acl.as_bytes().to_vec()))
            .collect();
        for name in lost {
            let path = self::path(path);
            self.draft.warn(Warning::Xattr { path, name });
        }
        let is_large = |(name, value): &mut (Vec<u8>, Vec<u8>)| {
            let is_legal = name.len() <= XATTR_NAME_MAX_BYTES && !name.contains(&0);
            !is_legal || value.len() > XATTR_VALUE_MAX_BYTES
        };
        for _ in xattrs.extract_if(.., is_large) {
            let text = "has an xattr with a name over 255 bytes or a zero byte in it, or a value \
                        over 64 KiB, which Linux refuses; it is left out";
            warn(self.draft, &self.archive, at_bytes, path, text);
        }
        xattrs
    }

    /// The names of a path, without those that mean nothing.
    fn components(&self, at_bytes: u64, path: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let unstorable = |rule| Error::Unstorable {
            path: self::path(path),
            rule,
        };
        if path.len() > PATH_MAX_BYTES {
            return Err(unstorable("its path is over 4095 bytes"));
        }
        let mut names = Vec::new();
        for name in path.split(|byte| *byte == b'/') {
            match name {
                b"" | b"." => {}
                b".." => {
                    let path = path.escape_ascii().to_string();
                    return Err(self.error(at_bytes, TarDefect::ParentComponent { path }));
                }
                name if is_legal_name(name) => names.push(name.to_vec()),
                name if name.contains(&0) => return Err(unstorable("its name has a zero byte")),
                _ => return Err(unstorable("its name is over 256 bytes; rename it")),
            }
        }
        Ok(names)
    }

    /// An absolute path without components that mean nothing, of one that was accepted before.
    fn normal(&self, path: &[u8]) -> Option<Vec<u8>> {
        self.components(0, path).ok().map(|names| joined(&names))
    }

    fn clamped(&self, found_s: i64) -> u32 {
        time(&PathBuf::new(), found_s, self.options, &mut Vec::new())
    }

    /// Tells that something is left out or odd.
    pub(crate) fn warn(&mut self, at_bytes: u64, path: &[u8], text: &str) {
        warn(self.draft, &self.archive, at_bytes, path, text);
    }

    pub(crate) fn error(&self, at_bytes: u64, defect: TarDefect) -> Error {
        Error::Tar {
            path: self.archive.clone(),
            at_bytes,
            defect,
        }
    }
}

fn warn(draft: &mut Draft, archive: &Path, at_bytes: u64, path: &[u8], text: &str) {
    draft.warn(Warning::Tar {
        archive: archive.to_path_buf(),
        at_bytes,
        path: self::path(path),
        text: text.to_owned(),
    });
}

fn kind(path: &Path, kind: EntryKind) -> Result<Kind, Error> {
    let unstorable = |rule| Error::Unstorable {
        path: path.to_path_buf(),
        rule,
    };
    let check_device = |major, minor| match (DeviceNumber { major, minor }).encode() {
        Some(_) => Ok(()),
        None => Err(unstorable(
            "its device number is over 4095 (major) or 1048575 (minor)",
        )),
    };
    Ok(match kind {
        EntryKind::File { size_bytes, .. } => Kind::File { size_bytes },
        EntryKind::Directory => Kind::Directory {
            entries: Vec::new(),
        },
        EntryKind::Symlink { target } if target.is_empty() || target.contains(&0) => {
            return Err(unstorable("its target is empty or has a zero byte"));
        }
        EntryKind::Symlink { target } if target.len() > TARGET_MAX_BYTES => {
            return Err(unstorable(
                "its target is over 4095 bytes, which the kernel refuses to follow",
            ));
        }
        EntryKind::Symlink { target } => Kind::Symlink { target },
        EntryKind::CharDevice { major, minor } => {
            check_device(major, minor)?;
            Kind::CharDevice { major, minor }
        }
        EntryKind::BlockDevice { major, minor } => {
            check_device(major, minor)?;
            Kind::BlockDevice { major, minor }
        }
        EntryKind::Fifo => Kind::Fifo,
        EntryKind::HardLink { .. } | EntryKind::Unknown(_) => {
            unreachable!("neither becomes a node")
        }
    })
}

fn joined(names: &[Vec<u8>]) -> Vec<u8> {
    let mut path = Vec::new();
    for name in names {
        path.push(b'/');
        path.extend_from_slice(name);
    }
    if path.is_empty() {
        path.push(b'/');
    }
    path
}

fn path(bytes: &[u8]) -> PathBuf {
    OsString::from_vec(bytes.to_vec()).into()
}
