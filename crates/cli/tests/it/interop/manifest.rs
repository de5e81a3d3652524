//! A tree as lstat, read and lgetxattr show it, to be compared with another.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::{self, File, Metadata};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Format bits of `st_mode`.
const TYPE_MASK: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const SYMLINK: u32 = 0o120_000;

/// What one path is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    uid: u32,
    gid: u32,
    mtime_s: i64,
    size_bytes: u64,
    device: u64,
    /// Hash of the content of a file.
    content: Option<blake3::Hash>,
    /// Target of a symlink.
    target: Vec<u8>,
    xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
    link_count: u64,
    /// The first path that names the same file.
    first_path: Vec<u8>,
}

/// A tree: path below its root to what is there. The root is the empty path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest(BTreeMap<Vec<u8>, Entry>);

impl Manifest {
    /// Reads a tree without following links.
    pub(crate) fn of(root: &Path) -> Self {
        let mut entries = BTreeMap::new();
        let mut first_paths = HashMap::new();
        let mut buffer = vec![0; 1 << 20];
        let mut pending = vec![root.to_path_buf()];
        while let Some(path) = pending.pop() {
            let metadata = fs::symlink_metadata(&path).unwrap();
            let name = path
                .strip_prefix(root)
                .unwrap()
                .as_os_str()
                .as_bytes()
                .to_vec();
            if metadata.is_dir() {
                pending.extend(
                    fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
            }
            if !metadata.is_dir() && metadata.nlink() > 1 {
                let first = first_paths
                    .entry(metadata.ino())
                    .or_insert_with(|| name.clone());
                // The walk has no order; the least name stands for the file.
                *first = name.clone().min(first.clone());
            }
            entries.insert(name, (entry(&path, &metadata, &mut buffer), metadata.ino()));
        }
        Self(
            entries
                .into_iter()
                .map(|(name, (mut entry, inode))| {
                    let is_linked = entry.mode & TYPE_MASK != DIRECTORY && entry.link_count > 1;
                    let first = first_paths.get(&inode).filter(|_| is_linked);
                    entry.first_path.clone_from(first.unwrap_or(&name));
                    (name, entry)
                })
                .collect(),
        )
    }

    /// How many paths there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The same tree, had it no xattrs.
    pub(crate) fn without_xattrs(&self) -> Self {
        self.changed(|entry| entry.xattrs.clear())
    }

    /// The same tree without its root directory.
    pub(crate) fn without_top(&self) -> Self {
        let mut manifest = self.clone();
        manifest.0.remove(&b""[..]);
        manifest
    }

    /// The same tree, had each path a file of its own.
    pub(crate) fn without_links(&self) -> Self {
        let mut manifest = self.changed(|entry| entry.link_count = 0);
        for (name, entry) in &mut manifest.0 {
            entry.first_path.clone_from(name);
        }
        manifest
    }

    fn changed(&self, change: impl Fn(&mut Entry)) -> Self {
        let mut manifest = self.clone();
        manifest.0.values_mut().for_each(change);
        manifest
    }

    /// Demands that `found` is the same tree; `context` says whose view it is.
    pub(crate) fn demand(&self, found: &Self, context: &str) {
        let mut report = String::new();
        for (name, expected) in &self.0 {
            match found.0.get(name) {
                None => writeln!(report, "`{}` is missing", name.escape_ascii()).unwrap(),
                Some(found) if found != expected => writeln!(
                    report,
                    "`{}` differs:\n  expected {expected:?}\n  found    {found:?}",
                    name.escape_ascii()
                )
                .unwrap(),
                Some(_) => {}
            }
        }
        for name in found.0.keys().filter(|name| !self.0.contains_key(*name)) {
            writeln!(report, "`{}` is too many", name.escape_ascii()).unwrap();
        }
        let shown: Vec<&str> = report.lines().take(12).collect();
        assert!(report.is_empty(), "{context}:\n{}", shown.join("\n"));
    }
}

/// What is at `path`, read by way of `buffer`: to clear one for each file took longer than to read.
fn entry(path: &Path, metadata: &Metadata, buffer: &mut [u8]) -> Entry {
    let file_type = metadata.mode() & TYPE_MASK;
    let is_directory = file_type == DIRECTORY;
    let target = if file_type == SYMLINK {
        fs::read_link(path)
            .unwrap()
            .into_os_string()
            .into_encoded_bytes()
    } else {
        Vec::new()
    };
    Entry {
        mode: metadata.mode(),
        uid: metadata.uid(),
        gid: metadata.gid(),
        mtime_s: metadata.mtime(),
        // Directories count in units of their file system, in bytes and in links.
        size_bytes: if is_directory { 0 } else { metadata.len() },
        device: metadata.rdev(),
        content: (file_type == REGULAR).then(|| hash(path, buffer)),
        target,
        xattrs: xattrs(path, buffer),
        link_count: if is_directory { 0 } else { metadata.nlink() },
        first_path: Vec::new(),
    }
}

fn hash(path: &Path, buffer: &mut [u8]) -> blake3::Hash {
    let mut file = File::open(path).unwrap();
    let mut hasher = blake3::Hasher::new();
    loop {
        let len = file.read(buffer).unwrap();
        if len == 0 {
            return hasher.finalize();
        }
        hasher.update(&buffer[..len]);
    }
}

/// The xattrs that SquashFS can hold.
fn xattrs(path: &Path, buffer: &mut [u8]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let len = match rustix::fs::llistxattr(path, &mut *buffer) {
        Ok(len) => len,
        Err(rustix::io::Errno::OPNOTSUPP) => 0,
        Err(error) => panic!("{}: {error}", path.display()),
    };
    let names = buffer[..len].to_vec();
    names
        .split(|byte| *byte == 0)
        .filter(|name| {
            [&b"user."[..], b"trusted.", b"security."]
                .iter()
                .any(|prefix| name.starts_with(prefix))
        })
        .map(|name| {
            let len = rustix::fs::lgetxattr(path, name, &mut *buffer).unwrap();
            (name.to_vec(), buffer[..len].to_vec())
        })
        .collect()
}
