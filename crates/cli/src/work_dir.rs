//! A directory for files that are of no use once the command ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::Context as _;
use coldpress_host::{Janitor, Leftover};

use crate::text::quoted;

/// A directory whose files are known by name, so that they can be removed after a kill as well.
#[derive(Debug)]
pub(crate) struct WorkDir<'a> {
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
    pub(crate) fn create(
        parent: &Path,
        names: &[&str],
        janitor: Option<&'a Janitor>,
    ) -> anyhow::Result<Self> {
        // Absolute, because `{root}` lies in it: the command may change its working directory.
        let parent = parent
            .canonicalize()
            .with_context(|| format!("cannot find {}", quoted(parent)))?;
        let mut path = parent.join(format!(".coldpress-{}", process::id()));
        // Process ids are not unique where containers share a directory.
        while path.symlink_metadata().is_ok() {
            path.as_mut_os_string().push("+");
        }
        let files = names.iter().map(|name| path.join(name)).collect();
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
        for directory in [work_dir.path.clone(), work_dir.mount_point()] {
            fs::create_dir(&directory)
                .with_context(|| format!("cannot create {}", quoted(&directory)))?;
        }
        Ok(work_dir)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file of this name, which was announced.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// An empty directory to mount on.
    pub(crate) fn mount_point(&self) -> PathBuf {
        self.path.join("root")
    }

    /// Everything to remove, the directory first: the newest name is removed first.
    fn leftovers(&self) -> Vec<Leftover> {
        let directories = [self.path.clone(), self.mount_point()].map(Leftover::Dir);
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

/// The directory in which `path` stands.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
