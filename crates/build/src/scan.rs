//! Scanning directories into a [`Source`].

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use coldpress_format::{DeviceNumber, NAME_MAX_BYTES, XattrPrefix};
use coldpress_layout::{Kind, Node, NodeId, Tree};

use crate::error::{self, Error};
use crate::source::Source;
use crate::warning::Warning;

/// The kernel refuses to follow a symlink whose target does not fit a page.
const TARGET_MAX_BYTES: usize = 4095;

/// A full name and its value.
type Xattr = (Vec<u8>, Vec<u8>);

/// What of a source's metadata an image takes over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// Modification times after this, seconds since 1970, become this (`SOURCE_DATE_EPOCH`).
    pub latest_time_s: Option<u32>,
    /// Whether to read xattrs.
    pub xattrs: bool,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            latest_time_s: None,
            xattrs: true,
        }
    }
}

/// Reads names and metadata of `sources`.
///
/// One directory becomes the root directory. Several sources, or one that is not a directory, stand
/// in the root directory by their names. Symbolic links are not followed, mounts are entered.
///
/// * `progress`: called for each directory with the number of inodes found so far; stops the scan
///   when it breaks.
///
/// # Errors
///
/// [`Error`] if something cannot be read or cannot be stored, or the caller stops it.
pub fn scan(
    sources: &[PathBuf],
    options: &ScanOptions,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Source, Error> {
    let mut scanner = Scanner::new(options);
    match sources {
        [source] if fs::metadata(source).is_ok_and(|metadata| metadata.is_dir()) => {
            // The source itself may be named through a symlink; what is in it may not.
            let metadata = fs::metadata(source).map_err(error::source("read", source))?;
            scanner.add(source, &metadata)?;
        }
        _ => scanner.add_roots(sources)?,
    }
    while let Some(directory) = scanner.pending.pop() {
        if progress(scanner.nodes.len() as u64).is_break() {
            return Err(Error::Interrupted);
        }
        scanner.list(directory)?;
    }
    Ok(Source {
        tree: Tree {
            nodes: scanner.nodes,
            ..Tree::default()
        },
        warnings: scanner.warnings,
        paths: scanner.paths,
        sparse: scanner.sparse,
        modified: scanner.modified,
    })
}

struct Scanner<'a> {
    options: &'a ScanOptions,
    nodes: Vec<Node>,
    paths: Vec<PathBuf>,
    sparse: Vec<bool>,
    modified: Vec<(i64, i64)>,
    /// Directories whose entries are not read yet.
    pending: Vec<NodeId>,
    /// Nodes with several names, by device and inode number.
    linked: HashMap<(u64, u64), NodeId>,
    warnings: Vec<Warning>,
}

impl<'a> Scanner<'a> {
    fn new(options: &'a ScanOptions) -> Self {
        Self {
            options,
            nodes: Vec::new(),
            paths: Vec::new(),
            sparse: Vec::new(),
            modified: Vec::new(),
            pending: Vec::new(),
            linked: HashMap::new(),
            warnings: Vec::new(),
        }
    }

    /// A root directory of our own, owned by root, as new as the newest source.
    fn add_roots(&mut self, sources: &[PathBuf]) -> Result<(), Error> {
        let kind = Kind::Directory {
            entries: Vec::new(),
        };
        self.nodes.push(Node {
            kind,
            mode: 0o755,
            uid: 0,
            gid: 0,
            mtime_s: 0,
            xattrs: Vec::new(),
        });
        self.paths.push(PathBuf::from("/"));
        self.sparse.push(false);
        self.modified.push((0, 0));
        let mut entries = Vec::new();
        for source in sources {
            let metadata = fs::symlink_metadata(source).map_err(error::source("read", source))?;
            let absolute = std::path::absolute(source).map_err(error::source("read", source))?;
            let name = absolute
                .file_name()
                .unwrap_or(OsStr::new("root"))
                .as_bytes()
                .to_vec();
            let node = self.add(source, &metadata)?;
            self.nodes[0].mtime_s = self.nodes[0].mtime_s.max(self.nodes[node.index()].mtime_s);
            entries.push((name, node));
        }
        entries.sort();
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::SameName {
                path: OsStr::from_bytes(&pair[1].0).into(),
            });
        }
        self.nodes[0].kind = Kind::Directory { entries };
        Ok(())
    }

    fn list(&mut self, directory: NodeId) -> Result<(), Error> {
        let path = self.paths[directory.index()].clone();
        let mut names = Vec::new();
        for entry in fs::read_dir(&path).map_err(error::source("list", &path))? {
            names.push(entry.map_err(error::source("list", &path))?.file_name());
        }
        names.sort();
        let mut entries = Vec::with_capacity(names.len());
        for name in names {
            let path = path.join(&name);
            if name.len() > NAME_MAX_BYTES {
                return Err(Error::Unstorable {
                    path,
                    rule: "its name is over 256 bytes",
                });
            }
            let metadata = fs::symlink_metadata(&path).map_err(error::source("read", &path))?;
            let node = self.add(&path, &metadata)?;
            entries.push((name.as_bytes().to_vec(), node));
        }
        self.nodes[directory.index()].kind = Kind::Directory { entries };
        Ok(())
    }

    fn add(&mut self, path: &Path, metadata: &Metadata) -> Result<NodeId, Error> {
        let identity = (metadata.dev(), metadata.ino());
        let linked = metadata.nlink() > 1 && !metadata.is_dir();
        if linked && let Some(node) = self.linked.get(&identity) {
            return Ok(*node);
        }
        let node = NodeId(u32::try_from(self.nodes.len()).map_err(|_| Error::TooMany {
            what: "inodes",
            found: self.nodes.len() as u64,
            limit: u32::MAX.into(),
        })?);
        let kind = kind(path, metadata)?;
        if matches!(kind, Kind::Directory { .. }) {
            self.pending.push(node);
        }
        let xattrs = if self.options.xattrs {
            self.xattrs(path)?
        } else {
            Vec::new()
        };
        let mtime_s = self.time(path, metadata.mtime());
        let allocated_bytes = metadata.blocks().saturating_mul(512);
        self.modified
            .push((metadata.mtime(), metadata.mtime_nsec()));
        self.sparse
            .push(metadata.is_file() && allocated_bytes < metadata.len());
        self.nodes.push(Node {
            kind,
            mode: u16::try_from(metadata.mode() & 0o7777).unwrap_or(0),
            uid: metadata.uid(),
            gid: metadata.gid(),
            mtime_s,
            xattrs,
        });
        self.paths.push(path.to_path_buf());
        if linked {
            self.linked.insert(identity, node);
        }
        Ok(node)
    }

    fn time(&mut self, path: &Path, found_s: i64) -> u32 {
        let time_s = u32::try_from(found_s).unwrap_or_else(|_| {
            self.warnings.push(Warning::Time {
                path: path.to_path_buf(),
                found_s,
            });
            if found_s < 0 { 0 } else { u32::MAX }
        });
        self.options
            .latest_time_s
            .map_or(time_s, |latest| time_s.min(latest))
    }

    fn xattrs(&mut self, path: &Path) -> Result<Vec<Xattr>, Error> {
        let mut xattrs = Vec::new();
        for name in xattr_names(path)? {
            if XattrPrefix::split(&name).is_none() {
                self.warnings.push(Warning::Xattr {
                    path: path.to_path_buf(),
                    name,
                });
                continue;
            }
            // Removed since it was listed: as if it had never been there.
            if let Some(value) = xattr_value(path, &name)? {
                xattrs.push((name, value));
            }
        }
        xattrs.sort();
        Ok(xattrs)
    }
}

fn kind(path: &Path, metadata: &Metadata) -> Result<Kind, Error> {
    let file_type = metadata.file_type();
    Ok(if file_type.is_dir() {
        Kind::Directory {
            entries: Vec::new(),
        }
    } else if file_type.is_file() {
        Kind::File {
            size_bytes: metadata.len(),
        }
    } else if file_type.is_symlink() {
        let target = fs::read_link(path).map_err(error::source("read", path))?;
        let target = target.into_os_string().into_encoded_bytes();
        if target.len() > TARGET_MAX_BYTES {
            let rule = "its target is over 4095 bytes, which the kernel refuses to follow";
            return Err(Error::Unstorable {
                path: path.to_path_buf(),
                rule,
            });
        }
        Kind::Symlink { target }
    } else if file_type.is_fifo() {
        Kind::Fifo
    } else if file_type.is_socket() {
        Kind::Socket
    } else {
        let number = metadata.rdev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        if (DeviceNumber { major, minor }).encode().is_none() {
            let rule = "its device number is over 4095 (major) or 1048575 (minor)";
            return Err(Error::Unstorable {
                path: path.to_path_buf(),
                rule,
            });
        }
        if file_type.is_block_device() {
            Kind::BlockDevice { major, minor }
        } else {
            Kind::CharDevice { major, minor }
        }
    })
}

/// Names of a file's xattrs; none where the file system has no xattrs.
fn xattr_names(path: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let names = read_growing(|buffer| rustix::fs::llistxattr(path, buffer));
    match names {
        Ok(names) => {
            let names = names
                .split(|byte| *byte == 0)
                .filter(|name| !name.is_empty());
            Ok(names.map(<[u8]>::to_vec).collect())
        }
        Err(rustix::io::Errno::OPNOTSUPP) => Ok(Vec::new()),
        Err(error) => Err(error::source("list the xattrs of", path)(error.into())),
    }
}

fn xattr_value(path: &Path, name: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    match read_growing(|buffer| rustix::fs::lgetxattr(path, name, buffer)) {
        Ok(value) => Ok(Some(value)),
        Err(rustix::io::Errno::NODATA) => Ok(None),
        Err(error) => Err(error::source("read an xattr of", path)(error.into())),
    }
}

/// Calls `read` with larger buffers until the answer fits; Linux's limit is 64 KiB.
fn read_growing(
    read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>,
) -> rustix::io::Result<Vec<u8>> {
    let mut buffer = vec![0; 256];
    loop {
        match read(&mut buffer) {
            Ok(len) => {
                buffer.truncate(len);
                return Ok(buffer);
            }
            Err(rustix::io::Errno::RANGE) if buffer.len() < 1 << 17 => {
                buffer.resize(buffer.len() * 4, 0);
            }
            Err(error) => return Err(error),
        }
    }
}
