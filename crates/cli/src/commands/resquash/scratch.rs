//! A directory for what is extracted and made again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use coldpress_host::{Janitor, Leftover};
use tempfile::TempDir;

/// A directory in TMPDIR that goes with its guard, whatever the modes are of what is in it, and with
/// this process if that is killed.
#[derive(Debug)]
pub(super) struct Scratch {
    directory: TempDir,
    /// Dropped behind the directory, of which it then finds nothing.
    _janitor: Janitor,
}

impl Scratch {
    /// # Errors
    ///
    /// If it cannot be created.
    pub(super) fn create() -> anyhow::Result<Self> {
        let janitor = Janitor::start()?;
        let directory = tempfile::Builder::new().prefix("coldpress-").tempdir();
        let directory = directory.context("cannot create a directory in TMPDIR")?;
        janitor.watch(Leftover::Tree(directory.path().to_path_buf()));
        Ok(Self {
            directory,
            _janitor: janitor,
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Who is not root cannot remove names from a directory that is not writable.
        let mut pending: Vec<PathBuf> = vec![self.path().to_path_buf()];
        while let Some(directory) = pending.pop() {
            let _ = fs::set_permissions(&directory, fs::Permissions::from_mode(0o700));
            let Ok(entries) = fs::read_dir(&directory) else {
                continue;
            };
            let directories = entries
                .filter_map(Result::ok)
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            pending.extend(directories.map(|entry| entry.path()));
        }
    }
}
