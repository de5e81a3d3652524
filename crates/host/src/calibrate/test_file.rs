//! What a medium is measured on: a block device, a file that is there, or one of random bytes that
//! nobody sees.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, fstatfs};
use rustix::io::Errno;

use super::direct::{ALIGN_BYTES, Direct, RandomBytes, Room};
use crate::scratch::hidden_name;
use crate::{Error, path_of_open};

/// A file is written up to this size: what a disk keeps in a cache of its own is a small part of
/// it.
const WRITTEN_MAX_BYTES: u64 = 128 << 20;
/// And at least to this one, in whatever time.
const WRITTEN_MIN_BYTES: u64 = 16 << 20;
/// What is read must be this long.
const LEAST_BYTES: u64 = 4 << 20;
/// Bytes of a write.
const CHUNK_BYTES: usize = 1 << 20;
/// What part of the free space is taken.
const SPACE_SHARE: u64 = 4;

/// `TMPFS_MAGIC` and `RAMFS_MAGIC` of <linux/magic.h>.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// Something on a medium that is read directly.
#[derive(Debug)]
pub struct TestFile {
    direct: Direct,
    /// What it was asked for by.
    named: PathBuf,
}

impl TestFile {
    /// A block device or a regular file of at least 4 MiB is read itself. On the file system of a
    /// directory a file without a name is written, of 16 to 128 MiB of random bytes and at most a
    /// quarter of the free space; it is gone when this is dropped or the process ends, in whatever
    /// way.
    ///
    /// * `limit`: for how long may be written beyond the first 16 MiB.
    /// * `stop`: asked again and again; ends the writing.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] without the right to read or write; [`Error::NotMeasured`] for what is in
    /// memory, too small, or has no direct reads; [`Error::Stopped`].
    pub fn at(path: &Path, limit: Duration, stop: &mut dyn FnMut() -> bool) -> Result<Self, Error> {
        let metadata = fs::metadata(path).map_err(Error::io("look at", path))?;
        let direct = if metadata.is_dir() {
            refuse_memory(&File::open(path).map_err(Error::io("open", path))?, path)?;
            write(path, limit, stop)?
        } else if metadata.is_file() || metadata.file_type().is_block_device() {
            let direct = Direct::open(path).map_err(|error| not_direct(error, path))?;
            if metadata.is_file() {
                refuse_memory(direct.file(), path)?;
            }
            direct
        } else {
            let why = "it is neither a directory nor a regular file nor a block device";
            return Err(not_measured(path, why));
        };
        if direct.size_bytes() < LEAST_BYTES {
            return Err(not_measured(path, "it has less than 4 MiB"));
        }
        Ok(Self {
            direct,
            named: path.to_owned(),
        })
    }

    /// By what it was asked for.
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// A path that this process can open it by.
    pub(super) fn path(&self) -> PathBuf {
        path_of_open(self.direct.file())
    }

    pub(super) fn direct(&self) -> &Direct {
        &self.direct
    }

    /// How far the kernel reads ahead on the disk that it is on, if it is on one.
    pub(super) fn read_ahead_bytes(&self) -> Option<u64> {
        let metadata = self.direct.file().metadata().ok()?;
        let is_device = metadata.file_type().is_block_device();
        let number = if is_device {
            metadata.rdev()
        } else {
            metadata.dev()
        };
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let device = Path::new("/sys/dev/block").join(format!("{major}:{minor}"));
        // A partition has no queue of its own; its directory is in that of its disk.
        let disk = fs::canonicalize(device).ok()?;
        let mut places = disk.ancestors().take(2);
        places.find_map(|place| {
            let text = fs::read_to_string(place.join("queue/read_ahead_kb")).ok()?;
            text.trim().parse::<u64>().ok()?.checked_mul(1024)
        })
    }
}

fn refuse_memory(file: &File, path: &Path) -> Result<(), Error> {
    let found = fstatfs(file).map_err(Error::errno("ask for the file system of", path))?;
    // The width of the field is that of the architecture.
    let is_in_memory = u64::try_from(found.f_type).is_ok_and(|kind| IN_MEMORY.contains(&kind));
    if is_in_memory {
        return Err(not_measured(path, "its file system is in memory"));
    }
    Ok(())
}

/// A file without a name, full of random bytes, written past the page cache.
fn write(
    directory: &Path,
    limit: Duration,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Direct, Error> {
    let file = nameless(directory).map_err(|error| not_direct(error, directory))?;
    let space = rustix::fs::fstatvfs(&file)
        .map_err(Error::errno("ask for the free space of", directory))?;
    let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
    let size_bytes = WRITTEN_MAX_BYTES.min(free_bytes / SPACE_SHARE);
    if size_bytes < WRITTEN_MIN_BYTES {
        return Err(not_measured(
            directory,
            "it has less than 64 MiB of free space",
        ));
    }
    // In one piece where that is possible; where it is not, the writes make the pieces.
    let _ = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, size_bytes);
    let mut random = RandomBytes(seed());
    let mut room = Room::new(CHUNK_BYTES);
    let started = Instant::now();
    let mut end = 0;
    while end + CHUNK_BYTES as u64 <= size_bytes {
        if stop() {
            return Err(Error::Stopped);
        }
        if end >= WRITTEN_MIN_BYTES && started.elapsed() > limit {
            break;
        }
        random.fill(room.bytes_mut());
        file.write_all_at(room.bytes_mut(), end)
            .map_err(|error| not_direct(error, directory))?;
        end += CHUNK_BYTES as u64;
    }
    file.set_len(end)
        .and_then(|()| file.sync_all())
        .map_err(Error::io("write a file without a name to", directory))?;
    Direct::of(file).map_err(Error::io("measure a file without a name in", directory))
}

fn nameless(directory: &Path) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::DIRECT;
    match rustix::fs::open(directory, flags, Mode::from_raw_mode(0o600)) {
        Ok(file) => Ok(file.into()),
        // FAT and NFS have no files without a name; this one has its name for a moment.
        Err(Errno::OPNOTSUPP | Errno::ISDIR) => {
            let path = directory.join(hidden_name());
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true).mode(0o600);
            let file = options.custom_flags(libc::O_DIRECT).open(&path)?;
            fs::remove_file(&path)?;
            Ok(file)
        }
        Err(errno) => Err(errno.into()),
    }
}

/// Other bytes each time: some media keep what is equal once.
fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(process::id())
}

/// Direct I/O that is refused is told as an invalid argument.
fn not_direct(error: io::Error, path: &Path) -> Error {
    if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) {
        return not_measured(
            path,
            "its file system does not read and write past the page cache",
        );
    }
    Error::io("read and write directly", path)(error)
}

fn not_measured(path: &Path, why: &'static str) -> Error {
    Error::NotMeasured {
        path: path.to_owned(),
        why,
    }
}

const _: () = assert!(CHUNK_BYTES.is_multiple_of(ALIGN_BYTES));

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &Path) -> String {
        let test_file = TestFile::at(path, Duration::ZERO, &mut || false);
        test_file.unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_medium_is_refused_with_the_reason() {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let small = directory.path().join("small");
        fs::write(&small, [1; 100]).unwrap();
        for (path, why) in [
            (Path::new("/dev/null"), "neither a directory"),
            (Path::new("/dev/shm"), "in memory"),
            (&small, "less than 4 MiB"),
            (Path::new("/nonexistent"), "No such file"),
        ] {
            if path.exists() || path.ends_with("nonexistent") {
                let told = refused(path);
                assert!(told.contains(why), "{}: {told}", path.display());
            }
        }
    }

    #[test]
    fn nothing_is_seen_of_what_is_written_and_a_stop_is_heard() {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let test_file = TestFile::at(directory.path(), Duration::ZERO, &mut || false).unwrap();
        assert_eq!(test_file.direct().size_bytes(), WRITTEN_MIN_BYTES);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        let stopped = TestFile::at(directory.path(), Duration::ZERO, &mut || true);
        assert!(matches!(stopped, Err(Error::Stopped)));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
