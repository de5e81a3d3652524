//! Where the image is written, and recovery files.

use std::fs::File;
use std::path::Path;

use coldpress_dialects::mksquashfs::Request;
use coldpress_report::text::escaped;
use coldpress_session::ui::Ui;
use coldpress_writer::{Appending, Output};

use crate::steps;
use crate::verbs::pace::print;

/// Where the image is written.
#[derive(Debug)]
pub(crate) enum Destination {
    New(Output),
    /// To the end of the image that is there.
    Old(Box<Appending>),
}

impl Destination {
    /// The image that is appended to, or a new file.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub(crate) fn new(request: &Request, appending: Option<Appending>) -> anyhow::Result<Self> {
        Ok(match appending {
            Some(appending) => Self::Old(Box::new(appending)),
            None => Self::New(Output::create(&request.destination)?),
        })
    }

    pub(crate) fn appending(&self) -> Option<&Appending> {
        match self {
            Self::New(_) => None,
            Self::Old(appending) => Some(appending),
        }
    }

    pub(crate) fn file(&self) -> &File {
        match self {
            Self::New(output) => output.file(),
            Self::Old(appending) => appending.file(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::New(output) => output.path(),
            Self::Old(appending) => appending.path(),
        }
    }

    /// Makes the image durable and puts it in its place.
    ///
    /// # Errors
    ///
    /// If that fails; what was there before then is there still.
    pub(crate) fn commit(self, ui: &Ui) -> anyhow::Result<()> {
        match self {
            Self::New(output) => steps::commit(output, ui),
            Self::Old(appending) => {
                Ok(ui.task("commit", "Make the image durable", || appending.commit())?)
            }
        }
    }
}

/// Gives the destination the tables that a recovery file of mksquashfs holds.
///
/// # Errors
///
/// If it holds none of the destination.
pub(crate) fn recover(request: &Request, recovery: &Path, ui: &Ui) -> anyhow::Result<()> {
    coldpress_writer::recover(&request.destination, request.offset_bytes, recovery)?;
    let recovery = escaped(recovery.as_os_str().as_encoded_bytes());
    let words = format!("Successfully wrote recovery file \"{recovery}\".  Exiting\n");
    print(ui, &words)
}
