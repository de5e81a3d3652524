//! Word to a pipe whether it is mounted, as squashfuse sends it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf, absolute};
use std::thread;

use anyhow::Context as _;
use coldpress_dialects::squashfuse::MountOption;
use coldpress_report::text::quoted;
use coldpress_session::ui::Ui;

use super::background;

const MOUNTED: u8 = b's';
const FAILED: u8 = b'f';

/// The pipe, if there is one.
#[derive(Debug, Default)]
pub(super) struct Notice {
    pipe: Option<PathBuf>,
}

impl Notice {
    /// The last pipe that is named. What is no pipe is warned of and hears nothing: it might be a
    /// file of the user's.
    ///
    /// # Errors
    ///
    /// If the working directory is gone, in which it lies.
    pub(super) fn of(options: &[MountOption], ui: &Ui) -> anyhow::Result<Self> {
        let named = options.iter().rev().find_map(|option| match option {
            MountOption::NotifyPipe(path) => Some(path),
            _ => None,
        });
        let Some(path) = named else {
            return Ok(Self::default());
        };
        let is_pipe = fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
        if !is_pipe {
            // Said once, by the command that was typed.
            if !background::is_here() {
                ui.warn(&format!(
                    "nobody is notified: {} is not a pipe",
                    quoted(path)
                ));
            }
            return Ok(Self::default());
        }
        // The mount leaves the working directory.
        let pipe = absolute(path).with_context(|| format!("cannot use {}", quoted(path)))?;
        Ok(Self { pipe: Some(pipe) })
    }

    /// Says that it is mounted. Who listens may come later: nothing waits for that.
    ///
    /// # Errors
    ///
    /// If there is no thread to be had.
    pub(super) fn mounted(&self) -> anyhow::Result<()> {
        let Some(pipe) = self.pipe.clone() else {
            return Ok(());
        };
        let thread = thread::Builder::new().name("notice".to_owned());
        // Who stopped listening does not want to know.
        let thread = thread.spawn(move || drop(write(&pipe, MOUNTED)));
        thread.context("cannot start a thread")?;
        Ok(())
    }

    /// Says that it cannot be mounted. Waits for whoever listens.
    pub(super) fn failed(&self) {
        if let Some(pipe) = &self.pipe {
            let _ = write(pipe, FAILED);
        }
    }
}

fn write(pipe: &Path, word: u8) -> io::Result<()> {
    File::options().write(true).open(pipe)?.write_all(&[word])
}
