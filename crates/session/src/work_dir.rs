//! A directory for files that are of no use once the command ends.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use coldpress_host::{Janitor, Leftover, hidden_name};
use coldpress_report::text::quoted;

/// A program that is started from the mount point may give up root's rights on the way, and has to
/// find its files all the same. Others only pass through.
const PASSED: u32 = 0o711;
/// Images hold what came from a source that others may not enter, and other programs write them.
const PRIVATE: u32 = 0o700;

/// A directory whose files are known by name, so that they can be removed after a kill as well.
#[derive(Debug)]
pub struct WorkDir<'a> {
    path: PathBuf,
    files: Vec<PathBuf>,
    janitor: Option<&'a Janitor>,
}

impl<'a> WorkDir<'a> {
    /// A new directory in `parent`, on whose disk the images will lie.
    ///
    /// * `janitor`: removes directory and files if this process is killed.
    /// * `names`: of all files that may be created in it.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn create(
        parent: &Path,
        names: &[&str],
        janitor: Option<&'a Janitor>,
    ) -> anyhow::Result<Self> {
        // Absolute, because `{root}` lies in it: the command may change its working directory.
        let parent = parent
            .canonicalize()
            .with_context(|| format!("cannot find {}", quoted(parent)))?;
        let path = parent.join(hidden_name());
        let files = names.iter().map(|name| private(&path).join(name)).collect();
        let work_dir = Self {
            path,
            files,
            janitor,
        };
        if let Some(janitor) = janitor {
            work_dir
                .leftovers()
                .into_iter()
                .for_each(|leftover| janitor.watch(leftover));
        }
        for (directory, mode) in work_dir
            .directories()
            .into_iter()
            .zip([PASSED, PASSED, PRIVATE])
        {
            let made = DirBuilder::new().mode(mode).create(&directory);
            made.with_context(|| format!("cannot create {}", quoted(&directory)))?;
        }
        Ok(work_dir)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of this name, which was announced.
    pub fn file(&self, name: &str) -> PathBuf {
        private(&self.path).join(name)
    }

    /// An empty directory to mount on.
    pub fn mount_point(&self) -> PathBuf {
        self.path.join("root")
    }

    fn directories(&self) -> [PathBuf; 3] {
        [self.path.clone(), self.mount_point(), private(&self.path)]
    }

    /// Everything to remove, the directory first: the newest name is removed first.
    fn leftovers(&self) -> Vec<Leftover> {
        let directories = self.directories().map(Leftover::Dir);
        let files = self.files.iter().cloned().map(Leftover::File);
        directories.into_iter().chain(files).collect()
    }
}

impl Drop for WorkDir<'_> {
    fn drop(&mut self) {
        for file in &self.files {
            // Most were never created. One that stays keeps the directory, which the janitor sees.
            let _ = fs::remove_file(file);
        }
        let _ = fs::remove_dir(private(&self.path));
        let _ = fs::remove_dir(self.mount_point());
        if fs::remove_dir(&self.path).is_ok()
            && let Some(janitor) = self.janitor
        {
            self.leftovers()
                .iter()
                .for_each(|leftover| janitor.forget(leftover));
        }
    }
}

/// The directory of the files.
fn private(path: &Path) -> PathBuf {
    path.join("images")
}

/// The directory in which `path` stands.
pub fn parent(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
