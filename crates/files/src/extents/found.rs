//! Files that are named, and those below directories that are.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use coldpress_host::{Error, Extents};
use coldpress_report::failure::sentence;
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;
use rustix::fs::{Mode, OFlags};

use super::report::{Report, Row};

/// Looks at all of them; returns whether any could not be looked at.
///
/// # Errors
///
/// If only one is named, and that is the one.
pub fn look(paths: &[PathBuf], ui: &Ui) -> anyhow::Result<(Report, bool)> {
    let mut search = Search {
        rows: Vec::new(),
        silent_devices: BTreeSet::new(),
        is_wrong: false,
        ui,
    };
    for path in paths {
        match search.named(path) {
            Err(error) if paths.len() == 1 => return Err(error),
            looked => search.tell(looked),
        }
    }
    let mut rows = search.rows;
    rows.sort_by(|one, other| one.fewest_extents_last().cmp(&other.fewest_extents_last()));
    Ok((Report::new(rows), search.is_wrong))
}

struct Search<'a> {
    rows: Vec<Row>,
    /// File systems that do not tell where files lie: said once for each.
    silent_devices: BTreeSet<u64>,
    is_wrong: bool,
    ui: &'a Ui,
}

impl Search<'_> {
    fn named(&mut self, path: &Path) -> anyhow::Result<()> {
        let metadata =
            fs::metadata(path).with_context(|| format!("cannot read {}", quoted(path)))?;
        if metadata.is_dir() {
            self.below(path, &metadata)
        } else if metadata.is_file() {
            self.file(path)
        } else {
            bail!("{} is neither a regular file nor a directory", quoted(path))
        }
    }

    /// All files below a directory that are on its file system.
    fn below(&mut self, path: &Path, root: &Metadata) -> anyhow::Result<()> {
        let mut pending = vec![path.to_owned()];
        let mut linked = BTreeSet::new();
        while let Some(directory) = pending.pop() {
            let listed = fs::read_dir(&directory).and_then(Iterator::collect);
            let listed: Vec<fs::DirEntry> = match listed {
                Ok(entries) => entries,
                Err(error) => {
                    let sentence = format!("cannot list {}", quoted(&directory));
                    let error = anyhow::Error::new(error).context(sentence);
                    if directory == path {
                        return Err(error);
                    }
                    self.tell(Err(error));
                    continue;
                }
            };
            for entry in listed {
                // What has gone meanwhile is not there.
                let Ok(metadata) = entry.metadata() else {
                    continue;
                };
                if metadata.dev() != root.dev() {
                    continue;
                }
                let is_known = metadata.nlink() > 1 && !linked.insert(metadata.ino());
                if metadata.is_dir() {
                    pending.push(entry.path());
                } else if metadata.is_file() && !is_known && !self.is_silent(&metadata) {
                    let looked = self.file(&entry.path());
                    self.note_silence(&looked, &metadata);
                    self.tell(looked);
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> anyhow::Result<()> {
        // What became a pipe meanwhile is not waited for.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from);
        let file = opened.with_context(|| format!("cannot open {}", quoted(path)))?;
        let extents = Extents::of(&File::from(file), path)?;
        self.rows.push(Row::new(path, &extents, None));
        Ok(())
    }

    fn is_silent(&self, metadata: &Metadata) -> bool {
        self.silent_devices.contains(&metadata.dev())
    }

    fn note_silence(&mut self, looked: &anyhow::Result<()>, metadata: &Metadata) {
        let error = looked.as_ref().err();
        let error = error.and_then(|error| error.downcast_ref::<Error>());
        if let Some(Error::NoExtents { .. }) = error {
            self.silent_devices.insert(metadata.dev());
        }
    }

    fn tell(&mut self, looked: anyhow::Result<()>) {
        if let Err(error) = looked {
            self.ui.error(&sentence(&error));
            self.is_wrong = true;
        }
    }
}
