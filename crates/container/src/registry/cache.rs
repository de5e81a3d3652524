//! What was fetched, by its digest. Only what was checked has a name in it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use coldpress_writer::{Digest, Hasher};
use rustix::fs::{FlockOperation, flock};

use crate::error::Error;

/// What a blob is called until it is whole.
const PARTIAL: &str = "partial";
/// What is known of a layer without reading it stands beside it.
const INDEX: &str = "index";
/// Bytes that are read at once.
const READ_BYTES: usize = 1 << 17;

/// A directory of blobs that several processes may use at once.
///
/// It is laid out as the blobs of an OCI layout: `blobs/ALGORITHM/HEX`. Whoever uses it holds a
/// shared lock on `lock`, whoever removes something an exclusive one; who writes a blob locks
/// that, and another who wants the same waits and finds it.
#[derive(Debug)]
pub struct Cache {
    pub(super) directory: PathBuf,
    /// Held while this lives.
    _lock: File,
}

/// A blob of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedBlob {
    /// Its digest.
    pub digest: Digest,
    /// Bytes that there are of it.
    pub size_bytes: u64,
    /// Whether all of it is there.
    pub is_whole: bool,
    /// When it was used last.
    pub used: SystemTime,
}

/// A blob that is being written, and nobody else writes.
#[derive(Debug)]
pub(super) struct Partial {
    pub(super) file: File,
    path: PathBuf,
    target: PathBuf,
    hasher: Hasher,
    pub(super) len_bytes: u64,
}

/// A place for a blob.
#[derive(Debug)]
pub(super) enum Slot {
    /// It is there.
    Whole,
    /// It may be written; some of it may be there.
    Partial(Box<Partial>),
    /// Somebody else writes it.
    Busy,
}

impl Cache {
    /// Opens a cache, and makes it if it is not there.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the directory cannot be made, or does not take locks.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        Self::locked(directory, FlockOperation::LockShared)
    }

    pub(super) fn locked(directory: &Path, operation: FlockOperation) -> Result<Self, Error> {
        fs::create_dir_all(directory).map_err(failed("make", directory))?;
        let lock = lock(&directory.join("lock"), operation)?;
        Ok(Self {
            directory: directory.to_path_buf(),
            _lock: lock,
        })
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        let path = self.directory.join("blobs").join(digest.algorithm());
        path.join(digest.hex())
    }

    /// Where the index of a layer is kept; it goes when the layer goes.
    pub(super) fn index_path(&self, digest: &Digest) -> PathBuf {
        self.path(digest).with_extension(INDEX)
    }

    /// A blob, if it is there. It counts as used now.
    pub(super) fn get(&self, digest: &Digest) -> Result<Option<File>, Error> {
        let path = self.path(digest);
        match File::open(&path) {
            Ok(file) => {
                // Of a cache that is only read, nobody knows.
                let _ = file.set_modified(SystemTime::now());
                Ok(Some(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("open", &path)(error)),
        }
    }

    /// Keeps a small blob whose digest is right.
    pub(super) fn put(&self, digest: &Digest, bytes: &[u8]) -> Result<File, Error> {
        loop {
            match self.slot(digest)? {
                Slot::Whole => {}
                Slot::Busy => {
                    std::thread::sleep(Duration::from_millis(20));
                    continue;
                }
                Slot::Partial(mut partial) => {
                    partial.clear()?;
                    partial.append(bytes)?;
                    partial.finish(digest)?;
                }
            }
            if let Some(file) = self.get(digest)? {
                return Ok(file);
            }
        }
    }

    /// The place of a blob.
    pub(super) fn slot(&self, digest: &Digest) -> Result<Slot, Error> {
        let target = self.path(digest);
        if target.exists() {
            return Ok(Slot::Whole);
        }
        self.claim(digest, target)
    }

    /// The file in which a blob is written, unless somebody else has it.
    fn claim(&self, digest: &Digest, target: PathBuf) -> Result<Slot, Error> {
        let parent = target.parent().unwrap_or(&self.directory);
        fs::create_dir_all(parent).map_err(failed("make", parent))?;
        let path = target.with_extension(PARTIAL);
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        let file = options.open(&path).map_err(failed("open", &path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => return Ok(Slot::Busy),
            locked => locked.map_err(|error| failed("lock", &path)(error.into()))?,
        }
        // Between opening and locking, somebody else may have finished or removed it. What has the
        // name then is not what is locked.
        if !is_at(&file, &path) {
            return Ok(Slot::Busy);
        }
        // It was finished before it was opened, so this made another, which is of no use.
        if target.exists() {
            fs::remove_file(&path).map_err(failed("remove", &path))?;
            return Ok(Slot::Whole);
        }
        let mut partial = Partial {
            file,
            path,
            target,
            hasher: Hasher::like(digest),
            len_bytes: 0,
        };
        partial.read_again()?;
        Ok(Slot::Partial(Box::new(partial)))
    }

    /// What is in the cache, by digest.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if it cannot be read.
    pub fn list(&self) -> Result<Vec<CachedBlob>, Error> {
        let mut blobs = Vec::new();
        for algorithm in ["sha256", "sha512"] {
            let directory = self.directory.join("blobs").join(algorithm);
            let entries = match fs::read_dir(&directory) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries.map_err(failed("list", &directory))?,
            };
            for entry in entries {
                let entry = entry.map_err(failed("list", &directory))?;
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let (hex, is_whole) = match name.strip_suffix(&format!(".{PARTIAL}")) {
                    Some(hex) => (hex, false),
                    None => (&*name, true),
                };
                // What else is there is not ours.
                let Ok(digest) = format!("{algorithm}:{hex}").parse() else {
                    continue;
                };
                let metadata = match entry.metadata() {
                    // Somebody has finished it meanwhile.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    metadata => metadata.map_err(failed("read", &entry.path()))?,
                };
                blobs.push(CachedBlob {
                    digest,
                    size_bytes: metadata.len(),
                    is_whole,
                    used: metadata.modified().map_err(failed("read", &entry.path()))?,
                });
            }
        }
        blobs.sort_by_key(|blob| (blob.digest, blob.is_whole));
        Ok(blobs)
    }

    /// Removes what was last used before a time; returns it. Waits until nobody uses the cache.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if something cannot be removed.
    pub fn prune(directory: &Path, before: SystemTime) -> Result<Vec<CachedBlob>, Error> {
        let cache = Self::locked(directory, FlockOperation::LockExclusive)?;
        let mut old = cache.list()?;
        old.retain(|blob| blob.used < before);
        for blob in &old {
            let mut path = cache.path(&blob.digest);
            if blob.is_whole {
                // Most blobs have none.
                let _ = fs::remove_file(cache.index_path(&blob.digest));
            } else {
                path = path.with_extension(PARTIAL);
            }
            fs::remove_file(&path).map_err(failed("remove", &path))?;
        }
        Ok(old)
    }
}

impl Partial {
    /// Hashes what an earlier run left.
    fn read_again(&mut self) -> Result<(), Error> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            match (&self.file).read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(len) => {
                    self.hasher.update(&buffer[..len]);
                    self.len_bytes += len as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed("read", &self.path)(error)),
            }
        }
    }

    /// Forgets what there is.
    pub(super) fn clear(&mut self) -> Result<(), Error> {
        let done = self
            .file
            .set_len(0)
            .and_then(|()| io::Seek::rewind(&mut self.file));
        done.map_err(failed("write", &self.path))?;
        let empty = self.hasher.clone().finish();
        self.hasher = Hasher::like(&empty);
        self.len_bytes = 0;
        Ok(())
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file
            .write_all(bytes)
            .map_err(failed("write", &self.path))?;
        self.hasher.update(bytes);
        self.len_bytes += bytes.len() as u64;
        Ok(())
    }

    /// The digest of what there is.
    pub(super) fn digest(&self) -> Digest {
        self.hasher.clone().finish()
    }

    /// Gives the blob its name, if it is the right one; else removes it. Returns whether it was.
    pub(super) fn finish(self, expected: &Digest) -> Result<bool, Error> {
        if self.digest() != *expected {
            fs::remove_file(&self.path).map_err(failed("remove", &self.path))?;
            return Ok(false);
        }
        self.file.sync_all().map_err(failed("write", &self.path))?;
        fs::rename(&self.path, &self.target).map_err(failed("rename", &self.path))?;
        if let Some(parent) = self.target.parent() {
            let directory = File::open(parent).map_err(failed("open", parent))?;
            directory.sync_all().map_err(failed("write", parent))?;
        }
        Ok(true)
    }
}

/// Whether a path names an open file.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (open, named) = (
        file.metadata().map(identity),
        fs::metadata(path).map(identity),
    );
    matches!((open, named), (Ok(open), Ok(named)) if open == named)
}

/// Makes a file if it is not there, and waits until it is locked.
pub(super) fn lock(path: &Path, operation: FlockOperation) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).open(path);
    let file = file.map_err(failed("open", path))?;
    loop {
        match flock(&file, operation) {
            Err(rustix::io::Errno::INTR) => {}
            locked => {
                locked.map_err(|error| failed("lock", path)(error.into()))?;
                return Ok(file);
            }
        }
    }
}

pub(super) fn failed<'a>(action: &'static str, path: &'a Path) -> impl Fn(io::Error) -> Error + 'a {
    move |error| Error::File {
        action,
        path: path.to_path_buf(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_finished_meanwhile_leaves_nothing_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::open(directory.path()).unwrap();
        let digest = Digest::sha256_of(b"blob");
        cache.put(&digest, b"blob").unwrap();
        let claimed = cache.claim(&digest, cache.path(&digest)).unwrap();
        assert!(matches!(claimed, Slot::Whole));
        let blobs = cache.list().unwrap();
        assert!(matches!(&blobs[..], [blob] if blob.is_whole));
    }
}
