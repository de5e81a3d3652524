//! `coldpress report`.

use std::path::PathBuf;

use clap::Args;
use coldpress_history::StudyId;

/// Write studies as one page to read, print and send
///
/// One HTML file that needs no network and no other file: question, answer with verdicts, tables, charts that tell their
/// values when they are pointed at, runs that do not count, conditions, and every sample as CSV one click away. Published
/// studies stand beside one's own, marked and without verdicts. Studies are those of the history (`coldpress history`),
/// and those of files.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress report 12 --samples snap-launch-ijohnson.csv --source rootfs -o start.html")]
pub(crate) struct ReportArgs {
    /// Numbers of studies in the history, in the order of the page
    #[arg(value_name = "ID", required_unless_present = "samples")]
    pub(crate) ids: Vec<StudyId>,

    /// The page to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Show the studies of this file too; may be repeated
    ///
    /// What `--samples` of press wrote, what `history export --format json` wrote, or a published table that `history
    /// import` knows.
    #[arg(long, value_name = "FILE")]
    pub(crate) samples: Vec<PathBuf>,

    /// Show how large the files of this directory are
    ///
    /// How many of the files and of the bytes are in files up to each size; hard links count once, and what is mounted
    /// below the directory does not.
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,

    /// The heading [default: that of the study, if there is one]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
}
