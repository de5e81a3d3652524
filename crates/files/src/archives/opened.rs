//! An archive in a file.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_archive::{Archive, Error};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;

/// An archive that was read.
#[derive(Debug)]
pub struct Opened {
    /// Its name, for messages.
    pub path: PathBuf,
    /// The file.
    pub file: File,
    /// What it holds.
    pub archive: Archive,
}

impl Opened {
    /// Opens and reads an archive.
    ///
    /// # Errors
    ///
    /// If there is none, or it is damaged.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read {}", quoted(path));
        let file = File::open(path).with_context(cannot)?;
        if !file.metadata().with_context(cannot)?.is_file() {
            return Err(anyhow!("{} is no regular file", quoted(path)));
        }
        Self::of_file(path, file)
    }

    /// Reads an archive in a file that is open.
    ///
    /// # Errors
    ///
    /// If it is none, or damaged.
    pub fn of_file(path: &Path, file: File) -> anyhow::Result<Self> {
        Self::if_archive(path, file)?.ok_or_else(|| {
            let error = anyhow!("{} is neither a ZIP nor an asar archive", quoted(path));
            hint(
                error,
                "jar, omni.ja, xpi, war, whl, pyz and zip files are ZIP archives",
            )
        })
    }

    /// The same; `None` if it is none.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    pub fn if_archive(path: &Path, file: File) -> anyhow::Result<Option<Self>> {
        let read = Archive::read(&file).with_context(|| format!("cannot read {}", quoted(path)))?;
        Ok(read.map(|archive| Self {
            path: path.to_owned(),
            file,
            archive,
        }))
    }

    /// Errors of this archive, with its name and what to do.
    pub(super) fn failed(&self, doing: &str, error: Error) -> anyhow::Error {
        let name = quoted(&self.path);
        match error {
            Error::Refused(why) => {
                let signed = matches!(why, coldpress_archive::Refusal::Signed { .. });
                let error = anyhow!("{name} {why}");
                if signed {
                    return hint(error, "`--signed` orders it nevertheless");
                }
                error
            }
            error => anyhow!(error).context(format!("cannot {doing} {name}")),
        }
    }
}
