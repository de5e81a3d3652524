//! `coldpress report`.

use std::path::PathBuf;

use clap::Args;
use coldpress_history::{ChangeId, StudyId};

/// Write studies as one HTML page to read, print and send
///
/// The page needs no network and no other file. It has the question, the answer with verdicts,
/// tables, charts that show their values on hover, runs that do not count, conditions, and every
/// sample as CSV. Published studies appear beside your own, marked and without verdicts. Studies
/// come from the history (`coldpress history`) or from files.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress report 12 --samples snap-launch-ijohnson.csv --source rootfs -o start.html")]
pub(crate) struct ReportArgs {
    /// Numbers of studies in the history, in the order of the page
    #[arg(value_name = "ID", required_unless_present_any = ["samples", "change"])]
    pub(crate) ids: Vec<StudyId>,

    /// The page to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Also show the studies in this file; may be repeated
    ///
    /// A file of `--samples` of press and bench, of `history export --format json`, or a published
    /// table that `history import` knows.
    #[arg(long, value_name = "FILE")]
    pub(crate) samples: Vec<PathBuf>,

    /// Show the tasks of a change, by its number; may be repeated
    ///
    /// When each task ran, and within which other one: what `coldpress timings` lists.
    #[arg(long, value_name = "ID")]
    pub(crate) change: Vec<ChangeId>,

    /// Show how large the files in this directory are
    ///
    /// How many of the files and of the bytes are in files up to each size. Hard links count once,
    /// and file systems mounted below the directory do not count.
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,

    /// The heading [default: that of the study, if there is one]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
}
