//! Images that were built from container images, beside the blobs of these.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use coldpress_writer::Digest;
use rustix::fs::FlockOperation;

use super::cache::{Cache, failed, lock};
use crate::error::Error;

/// What the name of an image ends with, as enroot has it.
const SUFFIX: &str = ".sqsh";
/// What that of the lock beside it ends with.
const LOCK: &str = ".lock";

/// An image of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedImage {
    /// Its file.
    pub path: PathBuf,
    /// Its size.
    pub size_bytes: u64,
    /// When it was used last.
    pub used: SystemTime,
}

/// The place of an image, which nobody else fills while this lives.
#[derive(Debug)]
pub struct ImageSlot {
    /// The file, absolute.
    pub path: PathBuf,
    _lock: File,
}

impl Cache {
    /// The place of the image that is built from a container image in a certain way. Waits while
    /// another process fills it.
    ///
    /// * `manifest`: the digest of the container image.
    /// * `settings`: everything else that the image depends on.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the directory cannot be made, or does not take locks.
    pub fn image(&self, manifest: &Digest, settings: &str) -> Result<ImageSlot, Error> {
        let directory = self.images();
        fs::create_dir_all(&directory).map_err(failed("make", &directory))?;
        let directory = fs::canonicalize(&directory).map_err(failed("find", &directory))?;
        let settings = Digest::sha256_of(settings.as_bytes()).hex();
        let name = format!("{}-{}", manifest.hex(), &settings[..8]);
        let path = directory.join(format!("{name}{LOCK}"));
        let lock = lock(&path, FlockOperation::LockExclusive)?;
        Ok(ImageSlot {
            path: directory.join(format!("{name}{SUFFIX}")),
            _lock: lock,
        })
    }

    /// The images that are kept, by name.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if they cannot be listed.
    pub fn list_images(&self) -> Result<Vec<CachedImage>, Error> {
        let mut images = Vec::new();
        for path in self.named(SUFFIX)? {
            let metadata = fs::metadata(&path).map_err(failed("read", &path))?;
            images.push(CachedImage {
                size_bytes: metadata.len(),
                used: metadata.modified().map_err(failed("read", &path))?,
                path,
            });
        }
        Ok(images)
    }

    /// Removes the images that were last used before a time; returns them. Waits until nobody uses
    /// the cache. What is mounted of them stays readable.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if something cannot be removed.
    pub fn prune_images(directory: &Path, before: SystemTime) -> Result<Vec<CachedImage>, Error> {
        let cache = Self::locked(directory, FlockOperation::LockExclusive)?;
        let mut old = cache.list_images()?;
        old.retain(|image| image.used < before);
        for image in &old {
            fs::remove_file(&image.path).map_err(failed("remove", &image.path))?;
        }
        // Whoever held one of them held the cache too.
        for lock in cache.named(LOCK)? {
            fs::remove_file(&lock).map_err(failed("remove", &lock))?;
        }
        Ok(old)
    }

    fn images(&self) -> PathBuf {
        self.directory.join("images")
    }

    fn named(&self, suffix: &str) -> Result<Vec<PathBuf>, Error> {
        let directory = self.images();
        let entries = match fs::read_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed("list", &directory))?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(failed("list", &directory))?.path();
            if path.to_string_lossy().ends_with(suffix) {
                found.push(path);
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

impl ImageSlot {
    /// Whether the image is there. It counts as used now.
    pub fn is_filled(&self) -> bool {
        match File::open(&self.path) {
            Ok(file) => {
                // In a cache that is only read, nobody knows.
                let _ = file.set_modified(SystemTime::now());
                true
            }
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn images_are_kept_by_what_they_depend_on_until_they_are_old() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::open(directory.path()).unwrap();
        let [one, two] = [b"one", b"two"].map(|bytes| Digest::sha256_of(bytes));
        let path = |manifest, settings| cache.image(manifest, settings).unwrap().path;
        let paths = [path(&one, ""), path(&two, ""), path(&one, "-b 1M")];
        assert!(paths[0] != paths[1] && paths[0] != paths[2]);
        assert_eq!(paths[0], path(&one, ""));
        for path in &paths[..2] {
            fs::write(path, "image").unwrap();
        }
        let old = SystemTime::now() - Duration::from_secs(1000);
        File::open(&paths[1]).unwrap().set_modified(old).unwrap();
        let slot = cache.image(&one, "").unwrap();
        assert!(slot.is_filled() && !cache.image(&one, "-b 1M").unwrap().is_filled());
        drop(slot);
        assert_eq!(cache.list_images().unwrap().len(), 2);
        drop(cache);
        let before = SystemTime::now() - Duration::from_secs(500);
        let removed = Cache::prune_images(directory.path(), before).unwrap();
        assert_eq!((removed.len(), &removed[0].path), (1, &paths[1]));
        let left = fs::read_dir(directory.path().join("images")).unwrap();
        assert_eq!(left.count(), 1);
    }
}
