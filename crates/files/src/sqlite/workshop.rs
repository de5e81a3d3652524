//! A private directory in which SQLite makes the new file of a copy of the old one.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use coldpress_host::{Janitor, LeasedFile, Scratch};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use rusqlite::Connection;
use rustix::fs::{CWD, FallocateFlags, Mode, OFlags, fallocate, openat};

use super::compare::difference;
use super::connection::{findings, open};
use super::survey::{Integrity, Survey, integrity};

/// Bytes that are copied at once.
const COPY_BYTES: usize = 1 << 20;

/// Opens a directory of this user's, into which nobody else can have put anything.
fn private(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = File::from(openat(CWD, path, flags, Mode::empty())?);
    let found = directory.metadata()?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    if is_own && found.mode() & 0o777 == 0o700 {
        return Ok(directory);
    }
    Err(io::Error::other("another directory took its place"))
}

/// A private directory in which SQLite works.
pub(super) struct Workshop {
    _scratch: Scratch,
    /// Its path in characters that SQLite does not convert, whatever the names above it are, and
    /// whoever renames them.
    _open: File,
    inside: PathBuf,
}

impl Workshop {
    pub(super) fn open(directory: &Path, janitor: &Janitor) -> anyhow::Result<Self> {
        let scratch = Scratch::create(directory, janitor)?;
        let open = private(scratch.path())
            .with_context(|| format!("cannot open {}", quoted(scratch.path())))?;
        let inside = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        Ok(Self {
            _scratch: scratch,
            _open: open,
            inside,
        })
    }

    pub(super) fn copy(&self, old: &File) -> io::Result<()> {
        let mut copy = File::create_new(self.inside.join("old"))?;
        io::copy(&mut &*old, &mut copy).map(drop)
    }

    /// Makes the new file of the copy, and makes sure of it.
    ///
    /// The sizes are those of a page, if it is to have another one than before, and of the chunks
    /// in which space is reserved.
    pub(super) fn vacuum(
        &self,
        held: &LeasedFile,
        before: &Survey,
        (page_size_bytes, chunk_bytes): (Option<u32>, u64),
    ) -> anyhow::Result<File> {
        let old = open(&self.inside.join("old"))?;
        demand_sound(&old, "it")?;
        let page_size_bytes = page_size_bytes.unwrap_or(before.page_size_bytes());
        old.pragma_update(None, "page_size", page_size_bytes)?;
        let into = self.inside.join("vacuumed");
        old.execute("VACUUM INTO ?1", [into.to_string_lossy()])?;
        let new = self.in_reserved_space(held, chunk_bytes)?;
        self.make_sure(&old, before.is_wal())?;
        let found = Survey::without_check(&self.inside.join("new"))?;
        let found = (found.page_size_bytes(), found.is_wal());
        if found != (page_size_bytes, before.is_wal()) {
            bail!("SQLite did not take the page size or the journal mode");
        }
        new.sync_all()?;
        Ok(new)
    }

    /// Copies what was vacuumed, as only now it is known how much space it takes. `std::io::copy`
    /// would share blocks where the file system can.
    fn in_reserved_space(&self, held: &LeasedFile, chunk_bytes: u64) -> anyhow::Result<File> {
        let path = self.inside.join("vacuumed");
        let vacuumed = File::open(&path)?;
        let size_bytes = vacuumed.metadata()?.len();
        let new = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(self.inside.join("new"))?;
        held.give_attributes(&new)?;
        let whole_chunks = size_bytes.checked_next_multiple_of(chunk_bytes.max(1));
        reserve(&new, whole_chunks.unwrap_or(size_bytes))?;
        let mut buffer = vec![0; COPY_BYTES];
        let mut offset = 0;
        loop {
            let len = vacuumed.read_at(&mut buffer, offset)?;
            let bytes = buffer.get(..len).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            new.write_all_at(bytes, offset)?;
            offset += len as u64;
        }
        fs::remove_file(path)?;
        Ok(new)
    }

    /// The new database has the journal mode of the old one, is sound, and holds the same.
    fn make_sure(&self, old: &Connection, is_wal: bool) -> anyhow::Result<()> {
        let new = open(&self.inside.join("new"))?;
        if is_wal {
            new.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        }
        demand_sound(&new, "the new file")?;
        if let Some(what) = difference(old, &new)? {
            bail!("{what} would differ in the new file");
        }
        new.close().map_err(|(_, error)| anyhow!(error))
    }
}

fn demand_sound(connection: &Connection, which: &str) -> anyhow::Result<()> {
    match integrity(findings(connection, "integrity_check")) {
        Integrity::Sound => Ok(()),
        Integrity::Unknown(why) => bail!("it is not known whether {which} is sound: {why}"),
        Integrity::Damaged(findings) => {
            let error = anyhow!("{which} is damaged: {}", findings.join("; "));
            Err(hint(
                error,
                "`sqlite3 FILE .recover` saves what can be saved",
            ))
        }
    }
}

/// Reserves space from the beginning of a file on, without making it longer. File systems that
/// cannot go without.
fn reserve(file: &File, size_bytes: u64) -> anyhow::Result<()> {
    use rustix::io::Errno;
    match fallocate(file, FallocateFlags::KEEP_SIZE, 0, size_bytes.max(1)) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(anyhow!(io::Error::from(error)).context("cannot reserve space")),
    }
}
