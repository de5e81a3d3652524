//! A directory for what other programs write, of which nothing stays.

use std::fs::{self, DirBuilder, Permissions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process;

use crate::janitor::Line;
use crate::{Error, Janitor, Leftover};

/// The janitor removes a tree only if its name begins so; `janitor.sh` says the same.
const NAME_PREFIX: &str = ".coldpress-";

/// Nobody else enters: what is unpacked here may have set-id bits and directories that all may
/// write to.
const MODE: u32 = 0o700;

/// A directory that is removed with all that is in it: on drop, or by the janitor when this process
/// is killed.
///
/// Trees that programs unpack have too many names to announce each, as [`Leftover::File`] demands.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    line: Line,
}

impl Scratch {
    /// Makes a directory with a [`hidden_name`] in `parent`. Needs no privilege.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if `parent` is not there or cannot be written.
    pub fn create(parent: &Path, janitor: &Janitor) -> Result<Self, Error> {
        let parent = parent
            .canonicalize()
            .map_err(Error::io("find the directory", parent))?;
        let scratch = Self {
            line: janitor.line().clone(),
            path: parent.join(hidden_name()),
        };
        janitor.watch(scratch.leftover());
        let made = DirBuilder::new().mode(MODE).create(&scratch.path);
        made.map_err(Error::io("create the directory", &scratch.path))?;
        Ok(scratch)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn leftover(&self) -> Leftover {
        Leftover::Tree(self.path.clone())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays is tried again by the janitor.
        if remove_tree(&self.path).is_ok() {
            self.line.forget(&self.leftover());
        }
    }
}

/// A new name for something that goes again: `.coldpress-<process id>-<16 hexadecimal digits>`.
///
/// The digits are random, so that nobody can take the name before in a directory that all may
/// write to.
pub fn hidden_name() -> String {
    let random = RandomState::new().hash_one(process::id());
    format!("{NAME_PREFIX}{}-{random:016x}", process::id())
}

/// Removes a file, or a directory with all that is in it, also where the modes of its directories
/// forbid it. Symbolic links are removed, not followed; what is not there is no error.
///
/// # Errors
///
/// [`Error::Io`].
pub fn remove_tree(path: &Path) -> Result<(), Error> {
    let removed = match remove(path) {
        // Who is not root cannot empty a directory of mode 0555, though it is theirs.
        Err(error) if error.kind() == ErrorKind::PermissionDenied && is_directory(path) => {
            open_directories(path).and_then(|()| remove(path))
        }
        removed => removed,
    };
    removed.map_err(Error::io("remove", path))
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = if is_directory(path) {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn is_directory(path: &Path) -> bool {
    let found = path.symlink_metadata();
    found.is_ok_and(|found| found.is_dir())
}

/// Lets their owner list and change all directories of a tree.
fn open_directories(path: &Path) -> io::Result<()> {
    let mut pending = vec![path.to_owned()];
    while let Some(directory) = pending.pop() {
        fs::set_permissions(&directory, Permissions::from_mode(MODE))?;
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                pending.push(entry.path());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_tree_is_removed_whatever_its_modes_are_and_nothing_outside_it() {
        let directory = tempfile::tempdir().unwrap();
        let kept = directory.path().join("kept");
        fs::write(&kept, "x").unwrap();
        let tree = directory.path().join("tree");
        let closed = tree.join("a/closed");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("file"), "x").unwrap();
        symlink(&kept, closed.join("link to a file")).unwrap();
        symlink(directory.path(), closed.join("link to a directory")).unwrap();
        for path in [&closed, &tree.join("a")] {
            fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
        }
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
        remove_tree(&tree).unwrap();
        let link = directory.path().join("link");
        symlink(&kept, &link).unwrap();
        remove_tree(&link).unwrap();
        assert!(kept.exists() && link.symlink_metadata().is_err());
    }
}
