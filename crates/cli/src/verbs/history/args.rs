//! `coldpress history`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use coldpress_history::StudyId;

/// List, show, export and import measurements
///
/// A database of the user keeps every run of every benchmark, with the machine, the versions and
/// the seed that it depends on. It is `$COLDPRESS_HISTORY`, otherwise `coldpress/history.sqlite` in
/// `$XDG_STATE_HOME` or `~/.local/state`. Under sudo it is root's. Without a verb, history lists
/// all studies.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_long_help = "\
Example:
  coldpress history show 12"
)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<HistoryVerb>,

    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with the history.
#[derive(Debug, Subcommand)]
pub(crate) enum HistoryVerb {
    List(ListArgs),
    Show(ShowArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Forget(ForgetArgs),
}

/// List all studies
///
/// A `running` study is in progress. A `killed` study lost its process, and has the runs that were
/// finished by then.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress history list --json")]
pub(crate) struct ListArgs {
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show the figures of a study and what they depend on
///
/// For each figure of each contestant: median, quartiles, and the ratio to the baseline (usually
/// the first contestant) with its 95 % interval and a verdict. Names runs that do not count, with
/// their reasons.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress history show 12")]
pub(crate) struct ShowArgs {
    /// Number of the study
    #[arg(value_name = "ID")]
    pub(crate) id: StudyId,

    /// Print the study as JSON, with every run
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write studies to a file
///
/// `json` holds whole studies, for `history import` and `bench compare`. `csv` and `parquet` have
/// one row for each figure of each run, and for each figure of a contestant that all its runs
/// share.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress history export 12 --format parquet -o start.parquet")]
pub(crate) struct ExportArgs {
    /// Numbers of the studies [default: all]
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<StudyId>,

    /// The format to write: csv, json or parquet
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub(crate) format: ExportFormat,

    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Import studies from files
///
/// Reads files of `history export --format json`, and tables of published studies, which it
/// recognizes by their first line: starts of four snaps by compressor; boots of Tails with xz and
/// zstd, and the time to compress it; image sizes and times of enroot by block size. Imports no
/// study twice; completes a study that has fewer runs here than in the file.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress history import start.json tails-boot-time.csv")]
pub(crate) struct ImportArgs {
    /// The files to read
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Print what became of each study as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Remove studies for good
///
/// Their numbers are not used again.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress history forget 12 13")]
pub(crate) struct ForgetArgs {
    /// Numbers of the studies
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<StudyId>,
}

/// How studies are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Csv,
    Json,
    Parquet,
}
