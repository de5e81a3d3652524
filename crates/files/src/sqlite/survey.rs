//! What is known of a database.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_host::{Error, Extents};
use coldpress_report::text::{escaped_path, quoted};
use coldpress_report::units::{bytes, count};
use coldpress_session::ui::Ui;
use rusqlite::ErrorCode;
use serde::Serialize;

use super::connection::{findings, open_to_read};
use super::header::{HEADER_BYTES, Header};

/// A database as it was found.
#[derive(Debug, Serialize)]
pub struct Survey {
    /// With escapes.
    path: String,
    /// Bytes of the file.
    pub size_bytes: u64,
    page_size_bytes: u32,
    pages: u64,
    /// Pages that hold nothing.
    pub free_pages: u64,
    /// `wal` or `rollback`; which of the rollback modes is not kept in the file.
    journal_mode: &'static str,
    /// What waits in the `-wal` file; the numbers here are without it.
    wal_bytes: u64,
    /// Whether a transaction was not finished, which the next one who opens it ends.
    has_hot_journal: bool,
    encoding: &'static str,
    auto_vacuum: &'static str,
    user_version: u32,
    application_id: u32,
    /// `null`: how far it grows at once is a setting of the application and not kept in the file.
    growth_chunk_bytes: Option<u64>,
    /// Space behind the end of the file; `null` where the file system does not tell.
    reserved_bytes: Option<u64>,
    /// `null` where the file system does not tell.
    pub extents: Option<u64>,
    mean_extent_bytes: Option<u64>,
    /// Whether it is sound.
    pub integrity: Integrity,
    #[serde(skip)]
    file: PathBuf,
}

/// Whether a database is sound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrity {
    /// Nothing is wrong with it.
    Sound,
    /// What SQLite found, a line each.
    Damaged(Vec<String>),
    /// Why nobody knows.
    Unknown(String),
}

impl Survey {
    /// Looks at a database, and lets SQLite look through all of it.
    ///
    /// # Errors
    ///
    /// If it cannot be read or is no database.
    pub fn of(path: &Path, ui: &Ui) -> anyhow::Result<Self> {
        let step = ui.step("checking", 0);
        let mut survey = Self::without_check(path)?;
        let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        // Who has a database in WAL mode open has a `-shm` file.
        let is_open = beside(path, "-shm").exists();
        let is_still = survey.is_wal() && survey.wal_bytes == 0 && !is_open;
        let found = open_to_read(&absolute, is_still)
            .and_then(|connection| findings(&connection, "quick_check"));
        survey.integrity = integrity(found);
        step.finish("");
        Ok(survey)
    }

    /// What can be said without SQLite.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is no database.
    pub fn without_check(path: &Path) -> anyhow::Result<Self> {
        let metadata =
            fs::metadata(path).with_context(|| format!("cannot read {}", quoted(path)))?;
        if !metadata.is_file() {
            return Err(anyhow!("{} is not a regular file", quoted(path)));
        }
        let file = File::open(path).with_context(|| format!("cannot read {}", quoted(path)))?;
        Self::of_open(&file, path)
    }

    /// The same of a file that is open: who holds it must not open it again.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is no database.
    pub fn of_open(file: &File, path: &Path) -> anyhow::Result<Self> {
        let header = read_header(file, path)?;
        let size_bytes = file.metadata().map_or(0, |metadata| metadata.len());
        let extents = match Extents::of(file, path) {
            Ok(extents) => Some(extents),
            Err(Error::NoExtents { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let real = path.canonicalize();
        let beside = Beside::of(real.as_deref().unwrap_or(path));
        let of_pages = size_bytes / u64::from(header.page_size_bytes);
        Ok(Self {
            path: escaped_path(path),
            size_bytes,
            page_size_bytes: header.page_size_bytes,
            pages: header.pages.map_or(of_pages, u64::from),
            free_pages: header.free_pages.into(),
            journal_mode: if header.is_wal { "wal" } else { "rollback" },
            wal_bytes: beside.wal_bytes,
            has_hot_journal: beside.has_hot_journal,
            encoding: header.encoding,
            auto_vacuum: header.auto_vacuum,
            user_version: header.user_version,
            application_id: header.application_id,
            growth_chunk_bytes: None,
            reserved_bytes: extents.map(|it| behind_the_end(&it)),
            extents: extents.map(|it| it.count),
            mean_extent_bytes: extents.map(|it| it.mean_bytes()),
            integrity: Integrity::Unknown("it was not checked".to_owned()),
            file: path.to_owned(),
        })
    }

    /// The same, when a check found nothing.
    #[must_use]
    pub fn sound(self) -> Self {
        let integrity = Integrity::Sound;
        Self { integrity, ..self }
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether it keeps a write-ahead log.
    pub fn is_wal(&self) -> bool {
        self.journal_mode == "wal"
    }

    /// Bytes of a page.
    pub fn page_size_bytes(&self) -> u32 {
        self.page_size_bytes
    }

    /// Names and values for people.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![
            ("database", self.path.clone()),
            ("size", bytes(self.size_bytes)),
            ("page size", bytes(self.page_size_bytes.into())),
            (
                "pages",
                format!("{}, {} free", count(self.pages), count(self.free_pages)),
            ),
            ("journal", self.journal()),
            ("encoding", self.encoding.to_owned()),
            ("auto-vacuum", self.auto_vacuum.to_owned()),
            ("grows by", "unknown: the application decides".to_owned()),
        ];
        if let (Some(extents), Some(mean)) = (self.extents, self.mean_extent_bytes) {
            let text = format!("{}, {} on average", count(extents), bytes(mean));
            lines.push(("extents", text));
        }
        if let Some(reserved) = self.reserved_bytes.filter(|reserved| *reserved > 0) {
            lines.push(("reserved", format!("{} behind the end", bytes(reserved))));
        }
        match &self.integrity {
            Integrity::Sound => lines.push(("check", "sound".to_owned())),
            Integrity::Unknown(why) => lines.push(("check", format!("unknown: {why}"))),
            Integrity::Damaged(findings) => {
                lines.extend(findings.iter().map(|finding| ("damage", finding.clone())));
            }
        }
        lines
    }

    fn journal(&self) -> String {
        let waiting = (self.wal_bytes > 0).then(|| format!("{} wait in it", bytes(self.wal_bytes)));
        let hot = "with an unfinished transaction".to_owned();
        let hot = self.has_hot_journal.then_some(hot);
        let parts = [Some(self.journal_mode.to_owned()), waiting, hot];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// What a check means: that a database is locked is no damage.
pub(super) fn integrity(found: rusqlite::Result<Vec<String>>) -> Integrity {
    match found {
        Ok(findings) if findings.is_empty() => Integrity::Sound,
        Ok(findings) => Integrity::Damaged(findings),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Integrity::Damaged(vec![error.to_string()])
            }
            _ => Integrity::Unknown(error.to_string()),
        },
    }
}

/// The files that SQLite keeps beside a database.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    /// Bytes of the write-ahead log.
    pub wal_bytes: u64,
    /// Whether a journal waits to be rolled back.
    pub has_hot_journal: bool,
}

impl Beside {
    /// What lies beside the database at `path`.
    pub(super) fn of(path: &Path) -> Self {
        let wal = fs::metadata(beside(path, "-wal"));
        Self {
            wal_bytes: wal.map_or(0, |metadata| metadata.len()),
            has_hot_journal: is_hot(&beside(path, "-journal")),
        }
    }

    /// Whether all that was written is in the database itself.
    pub(super) fn is_settled(self) -> bool {
        self.wal_bytes == 0 && !self.has_hot_journal
    }
}

/// Whether a journal has a transaction in it: one that is kept for the next has zeros at its
/// beginning.
fn is_hot(journal: &Path) -> bool {
    let mut first = [0];
    File::open(journal).is_ok_and(|mut file| file.read_exact(&mut first).is_ok() && first != [0])
}

/// A name with an ending behind it.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

/// Space behind the end of a file.
fn behind_the_end(extents: &Extents) -> u64 {
    let Extents {
        size_bytes,
        allocated_bytes,
        hole_bytes,
        ..
    } = *extents;
    allocated_bytes
        .saturating_add(hole_bytes)
        .saturating_sub(size_bytes)
}

fn read_header(file: &File, path: &Path) -> anyhow::Result<Header> {
    let mut bytes = [0; HEADER_BYTES];
    let len = file
        .read_at(&mut bytes, 0)
        .with_context(|| format!("cannot read {}", quoted(path)))?;
    Header::parse(bytes.get(..len).unwrap_or_default())
        .map_err(|rule| anyhow!("{} is no SQLite database: {rule}", quoted(path)))
}
