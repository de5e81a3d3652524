//! A database rewritten: vacuumed into reserved space, compared, put in place.
//!
//! Whoever has a database open would go on with the old file, so nobody may: as in `coldpress
//! defrag`, the kernel says so from the first byte that is read until the new file has the name.
//! SQLite itself works on a private copy meanwhile, in a directory beside the database.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use coldpress_host::{Janitor, LeasedFile};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;

use super::connection::open;
use super::header::is_page_size;
use super::survey::{Beside, Survey, beside};
use super::workshop::Workshop;
use crate::explained;

/// Space is reserved up to the next multiple of this unless something else is asked for.
const CHUNK_BYTES: u64 = 1 << 20;

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
    let sizes = (settings.page_size_bytes, settings.chunk_bytes);
    let made = workshop.vacuum(&held, &before, sizes);
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
            "{} has {links} names (hard links); SQLite finds journals by names, so it must have \
            one",
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
