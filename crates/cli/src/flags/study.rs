//! What the verbs of `coldpress bench` that run something share: where its samples go.

use std::path::{Path, PathBuf};

use clap::Args;

/// How a study is drawn and where it goes.
#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    /// Seed of the random order [default: from the clock]
    ///
    /// The study keeps it; the same seed gives the same order.
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) seed: Option<u64>,

    /// Keep nothing in the history
    #[arg(long, hide_short_help = true)]
    pub(crate) no_store: bool,

    /// Write the report to this file, as HTML
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Write every sample to this file, as JSON
    ///
    /// As `coldpress history export --format json` does, even if the study is interrupted.
    #[arg(long, value_name = "FILE")]
    pub(crate) samples: Option<PathBuf>,

    /// Print the study and its summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl StudyArgs {
    /// The files that are asked for.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let files = [&self.samples, &self.report].into_iter().flatten();
        files.map(PathBuf::as_path)
    }
}
