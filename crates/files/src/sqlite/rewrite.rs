//! A database rewritten: vacuumed into reserved space, compared, put in place.
//!
//! Whoever has a database open would go on with the old file, so nobody may: as in `coldpress
//! defrag`, the kernel says so from the first byte that is read until the new file has the name.
//! SQLite itself works on a private copy meanwhile, in a directory beside the database.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use coldpress_host::{Janitor, LeasedFile, Scratch};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;
use rusqlite::Connection;
use rustix::fs::{CWD, FallocateFlags, Mode, OFlags, fallocate, openat};

use super::compare::difference;
use super::connection::{findings, open};
use super::header::is_page_size;
use super::survey::{Beside, Integrity, Survey, beside, integrity};
use crate::explained;

/// Space is reserved up to the next multiple of this unless something else is asked for.
const CHUNK_BYTES: u64 = 1 << 20;

/// Bytes that are copied at once.
const COPY_BYTES: usize = 1 << 20;

/// How the new file is to be.
#[derive(Debug)]
pub struct Settings {
    page_size_bytes: Option<u32>,
    chunk_bytes: u64,
    keeps_old: bool,
}

impl Settings {
    /// `None` stands for the page size of the old file, and for 1 MiB of which whole multiples are
    /// reserved.
    ///
    /// # Errors
    ///
    /// If SQLite has no pages of this size.
    pub fn new(
        page_size_bytes: Option<u64>,
        chunk_bytes: Option<u64>,
        keeps_old: bool,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            page_size_bytes: page_size_bytes.map(page_size).transpose()?,
            chunk_bytes: chunk_bytes.unwrap_or(CHUNK_BYTES),
            keeps_old,
        })
    }
}

fn page_size(bytes: u64) -> anyhow::Result<u32> {
    u32::try_from(bytes)
        .ok()
        .filter(|_| is_page_size(bytes))
        .ok_or_else(|| {
            let error =
                anyhow!("page size is {bytes} bytes, must be a power of two from 512 to 64K");
            hint(error, "for example `--page-size 4096`")
        })
}

/// Rewrites a database; returns what it was and what it is.
///
/// # Errors
///
/// What was wrong; then the old file is in its place.
pub fn rewrite(
    path: &Path,
    settings: &Settings,
    janitor: &Janitor,
    ui: &Ui,
) -> anyhow::Result<(Survey, Survey)> {
    let step = ui.step("rewriting", 0);
    let path = &only_name(path)?;
    Survey::without_check(path)?;
    let kept = settings.keeps_old.then(|| beside(path, ".bak"));
    if let Some(kept) = kept.as_ref().filter(|kept| kept.symlink_metadata().is_ok()) {
        bail!(
            "{} exists already; move it elsewhere, or omit `--keep-old`",
            quoted(kept)
        );
    }
    settle(path)?;
    let held = hold(path)?;
    let before = Survey::of_open(held.file(), path)?;
    let directory = path.parent().unwrap_or(Path::new("/"));
    let workshop = Workshop::open(directory, janitor)?;
    workshop
        .copy(held.file())
        .with_context(|| format!("cannot copy {}", quoted(path)))?;
    held.check_alone().map_err(explained)?;
    let made = workshop.vacuum(&held, &before, settings);
    let new = made.with_context(|| format!("cannot rewrite {}", quoted(path)))?;
    held.give_metadata(&new, false).map_err(explained)?;
    put_in_place(&held, &new, kept.as_deref(), janitor, ui)?;
    drop((held, workshop));
    step.finish("");
    Ok((before.sound(), Survey::without_check(path)?.sound()))
}

/// Lets SQLite end what a program that was killed left beside a database, as the next one who opens
/// it would.
fn settle(path: &Path) -> anyhow::Result<()> {
    if Beside::of(path).is_settled() {
        return Ok(());
    }
    // Not while somebody is at it.
    drop(hold_any(path)?);
    let settled = open(path).and_then(|connection| {
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
    });
    settled.with_context(|| format!("cannot finish the interrupted work on {}", quoted(path)))
}

/// A database that nobody has open, and beside which nothing waits.
fn hold(path: &Path) -> anyhow::Result<LeasedFile> {
    let held = hold_any(path)?;
    if !Beside::of(path).is_settled() {
        bail!(
            "{} has an unfinished journal beside it; open and close it with its application",
            quoted(path)
        );
    }
    Ok(held)
}

fn hold_any(path: &Path) -> anyhow::Result<LeasedFile> {
    let held = LeasedFile::take(path).map_err(explained)?;
    let links = held.metadata().nlink();
    if links > 1 {
        bail!(
            "{} has {links} names (hard links); SQLite finds journals by names, so it must have one",
            quoted(path)
        );
    }
    Ok(held)
}

/// The new file takes the name, and the old one gets another if it is to be kept.
fn put_in_place(
    held: &LeasedFile,
    new: &File,
    kept: Option<&Path>,
    janitor: &Janitor,
    ui: &Ui,
) -> anyhow::Result<()> {
    // Nothing of this takes long; a signal waits until it is over.
    let _hold = ui.interrupt.hold();
    let path = held.path();
    held.replace_with(new, &[path.to_owned()], kept, janitor)
        .map_err(explained)
}

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
struct Workshop {
    _scratch: Scratch,
    /// Its path in characters that SQLite does not convert, whatever the names above it are, and
    /// whoever renames them.
    _open: File,
    inside: PathBuf,
}

impl Workshop {
    fn open(directory: &Path, janitor: &Janitor) -> anyhow::Result<Self> {
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

    fn copy(&self, old: &File) -> io::Result<()> {
        let mut copy = File::create_new(self.inside.join("old"))?;
        io::copy(&mut &*old, &mut copy).map(drop)
    }

    /// Makes the new file of the copy, and makes sure of it.
    fn vacuum(
        &self,
        held: &LeasedFile,
        before: &Survey,
        settings: &Settings,
    ) -> anyhow::Result<File> {
        let old = open(&self.inside.join("old"))?;
        demand_sound(&old, "it")?;
        let page_size_bytes = settings.page_size_bytes.unwrap_or(before.page_size_bytes());
        old.pragma_update(None, "page_size", page_size_bytes)?;
        let into = self.inside.join("vacuumed");
        old.execute("VACUUM INTO ?1", [into.to_string_lossy()])?;
        let new = self.in_reserved_space(held, settings.chunk_bytes)?;
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

/// Links are not followed: what a name stands for must be exchanged where it is.
fn only_name(path: &Path) -> anyhow::Result<PathBuf> {
    let cannot = || format!("cannot read {}", quoted(path));
    fs::symlink_metadata(path).with_context(cannot)?;
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| anyhow!(cannot()))?;
    Ok(parent.canonicalize().with_context(cannot)?.join(name))
}
