//! Every file of a mounted image or of a directory: how much there is, how much of it is in memory,
//! how long it takes to read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use coldpress_host::resident_pages;

use crate::error::Error;

/// What one read takes at most: as much as `cat` does.
const READ_BYTES: usize = 128 << 10;

/// A tree that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Walk {
    /// From the first directory to the last byte.
    pub(crate) time_s: f64,
    /// Of the names, links and content: the same for the same tree, whether a file of several names
    /// is one in its image or several, and with or without the `lost+found` that ext4 images have.
    pub(crate) digest: blake3::Hash,
}

/// Sum of the sizes of all files.
pub(crate) fn size_bytes(root: &Path) -> Result<u64, Error> {
    let mut size_bytes = 0;
    visit(root, &mut |_, metadata| {
        if metadata.is_file() {
            size_bytes += metadata.len();
        }
        Ok(())
    })?;
    Ok(size_bytes)
}

/// Pages of 4 KiB of all files that are in the page cache.
pub(crate) fn resident(root: &Path) -> Result<u64, Error> {
    let mut pages = 0;
    visit(root, &mut |path, metadata| {
        if metadata.is_file() {
            let file = File::open(path).map_err(Error::io("open", path))?;
            pages += resident_pages(&file)?;
        }
        Ok(())
    })?;
    Ok(pages)
}

/// Reads and hashes every file, one after the other in the order of their names, by one thread, as
/// `find` and a program that makes checksums do.
///
/// * `stop`: asked again and again; `None` once it says true.
pub(crate) fn walk(root: &Path, stop: &mut dyn FnMut() -> bool) -> Result<Option<Walk>, Error> {
    let started = Instant::now();
    let mut digest = blake3::Hasher::new();
    let mut buffer = vec![0; READ_BYTES];
    // Of files with several names, which are read once.
    let mut contents: BTreeMap<u64, blake3::Hash> = BTreeMap::new();
    let whole = visit_all(root, &mut |path, metadata| {
        let name = path.strip_prefix(root).unwrap_or(path);
        if name == Path::new("lost+found") && metadata.is_dir() {
            return Ok(true);
        }
        digest.update(name.as_os_str().as_bytes());
        // No name holds a zero byte.
        digest.update(&[0]);
        if metadata.is_symlink() {
            let target = fs::read_link(path).map_err(Error::io("read the link", path))?;
            digest.update(target.as_os_str().as_bytes());
        } else if metadata.is_file() {
            let content = match contents.get(&metadata.ino()) {
                Some(known) => *known,
                None => match content(path, &mut buffer, stop)? {
                    Some(content) => content,
                    None => return Ok(false),
                },
            };
            if metadata.nlink() > 1 {
                contents.insert(metadata.ino(), content);
            }
            digest.update(content.as_bytes());
        }
        Ok(!stop())
    })?;
    Ok(whole.then(|| Walk {
        time_s: started.elapsed().as_secs_f64(),
        digest: digest.finalize(),
    }))
}

/// Hashes a file; `None` once `stop` says so.
fn content(
    path: &Path,
    buffer: &mut [u8],
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<blake3::Hash>, Error> {
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let mut digest = blake3::Hasher::new();
    loop {
        match file.read(buffer) {
            Ok(0) => return Ok(Some(digest.finalize())),
            Ok(len) => drop(digest.update(buffer.get(..len).unwrap_or_default())),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io("read", path)(error)),
        }
        if stop() {
            return Ok(None);
        }
    }
}

/// Calls `each` for all that is below a directory on the same file system, hard links once.
fn visit(
    root: &Path,
    each: &mut dyn FnMut(&Path, &Metadata) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut linked = BTreeSet::new();
    visit_all(root, &mut |path, metadata| {
        if !metadata.is_file() || metadata.nlink() == 1 || linked.insert(metadata.ino()) {
            each(path, metadata)?;
        }
        Ok(true)
    })?;
    Ok(())
}

/// Calls `each` for all names below a directory on the same file system; ends when it returns
/// false, and returns whether it never did.
fn visit_all(
    root: &Path,
    each: &mut dyn FnMut(&Path, &Metadata) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let metadata = fs::metadata(root).map_err(Error::io("look at", root))?;
    let device = metadata.dev();
    let mut directories: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let mut below = Vec::new();
        for path in children(&directory)? {
            let metadata = path
                .symlink_metadata()
                .map_err(Error::io("look at", &path))?;
            if !each(&path, &metadata)? {
                return Ok(false);
            }
            if metadata.is_dir() && metadata.dev() == device {
                below.push(path);
            }
        }
        directories.extend(below.into_iter().rev());
    }
    Ok(true)
}

/// What is in a directory, sorted: the order that the kernel lists in differs between file systems.
fn children(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(directory).map_err(Error::io("list", directory))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths
        .collect::<Result<_, _>>()
        .map_err(Error::io("list", directory))?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(content: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(root.path().join("a/b")).expect("a directory");
        fs::write(root.path().join("a/b/file"), content).expect("a file");
        fs::hard_link(root.path().join("a/b/file"), root.path().join("z")).expect("a link");
        std::os::unix::fs::symlink("/nowhere", root.path().join("a/link")).expect("a link");
        root
    }

    #[test]
    fn a_walk_reads_every_file_once() {
        let walked = |root: &Path| walk(root, &mut || false).expect("readable").expect("whole");
        let (one, same, other) = (tree("xyz"), tree("xyz"), tree("xyZ"));
        assert_eq!(size_bytes(one.path()).expect("readable"), 3);
        assert_eq!(walked(one.path()).digest, walked(same.path()).digest);
        assert_ne!(walked(one.path()).digest, walked(other.path()).digest);
        // As images of makers and file systems may have it.
        fs::create_dir(same.path().join("lost+found")).expect("a directory");
        fs::remove_file(same.path().join("z")).expect("a file");
        fs::write(same.path().join("z"), "xyz").expect("a file");
        assert_eq!(walked(one.path()).digest, walked(same.path()).digest);
        fs::write(same.path().join("z"), "xyZ").expect("a file");
        assert_ne!(walked(one.path()).digest, walked(same.path()).digest);
        assert_eq!(walk(one.path(), &mut || true).expect("readable"), None);
    }
}
