//! What a tree holds: the source before the study, and what was unpacked after each run.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::io_error;
use crate::error::Error;

/// What one read takes.
const READ_BYTES: usize = 128 << 10;

/// A tree in numbers. Device files, pipes and sockets are left out, since who is not root cannot
/// make them all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Names of regular files, directories and symbolic links, the top directory among them.
    pub names: u64,
    /// Bytes of all regular files, of those with several names for each of them.
    pub named_bytes: u64,
    /// Bytes of all regular files, of those with several names once.
    pub content_bytes: u64,
}

/// Surveys a tree and reads all of it, so that it is in memory as far as that has room: whoever
/// comes first in a study would pay for the disk otherwise.
///
/// * `progress`: told how many bytes were read; may break.
///
/// # Errors
///
/// [`Error::Io`] names what cannot be read: tools differ in what they make of it, so nothing can be
/// compared. [`Error::Stopped`] if `progress` breaks.
pub fn read_source(
    source: &Path,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Survey, Error> {
    let mut buffer = vec![0; READ_BYTES];
    let mut read_bytes = 0;
    survey(source, &mut |path| {
        let mut file = File::open(path).map_err(io_error("read", path))?;
        loop {
            let len = file.read(&mut buffer).map_err(io_error("read", path))?;
            read_bytes += u64::try_from(len).unwrap_or(0);
            if progress(read_bytes).is_break() {
                return Err(Error::Stopped);
            }
            if len == 0 {
                return Ok(());
            }
        }
    })
}

/// Surveys a tree without reading it.
pub(super) fn look_at(tree: &Path) -> Result<Survey, Error> {
    survey(tree, &mut |_| Ok(()))
}

fn survey(tree: &Path, visit: &mut dyn FnMut(&Path) -> Result<(), Error>) -> Result<Survey, Error> {
    let mut found = Survey::default();
    let mut linked = HashSet::new();
    let mut pending = vec![tree.to_owned()];
    while let Some(directory) = pending.pop() {
        found.names += 1;
        let entries = fs::read_dir(&directory).map_err(io_error("list", &directory))?;
        for entry in entries {
            let entry = entry.map_err(io_error("list", &directory))?;
            let path = entry.path();
            let metadata = entry.metadata().map_err(io_error("look at", &path))?;
            if metadata.is_dir() {
                pending.push(path);
            } else if metadata.is_symlink() {
                found.names += 1;
            } else if metadata.is_file() {
                found.names += 1;
                found.named_bytes += metadata.len();
                let is_new =
                    metadata.nlink() == 1 || linked.insert((metadata.dev(), metadata.ino()));
                if is_new {
                    found.content_bytes += metadata.len();
                    visit(&path)?;
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_tree_is_counted_and_read() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| directory.path().join(name);
        fs::create_dir_all(at("a/b")).expect("new directories");
        fs::write(at("a/one"), [7; 1000]).expect("a new file");
        fs::write(at("empty"), "").expect("a new file");
        fs::hard_link(at("a/one"), at("a/b/same")).expect("a new name");
        symlink("nowhere", at("link")).expect("a new link");
        let mut read_bytes = 0;
        let found = read_source(directory.path(), &mut |bytes| {
            read_bytes = bytes;
            ControlFlow::Continue(())
        });
        let expected = Survey {
            names: 7,
            named_bytes: 2000,
            content_bytes: 1000,
        };
        assert_eq!(found.expect("a tree"), expected);
        assert_eq!(read_bytes, 1000);
        assert_eq!(look_at(directory.path()).expect("a tree"), expected);
        let stopped = read_source(directory.path(), &mut |_| ControlFlow::Break(()));
        assert!(matches!(stopped, Err(Error::Stopped)));
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = look_at(Path::new("/nowhere/at all")).expect_err("nothing there");
        assert_eq!(error.to_string(), "cannot list `/nowhere/at all`");
    }
}
