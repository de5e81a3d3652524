//! `coldpress history`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use coldpress_history::StudyId;

/// List, show, export and import what was measured
///
/// Every run of every benchmark is kept, with the machine, the versions and the seed that it depends on, in a database of
/// the user: `$COLDPRESS_HISTORY`, else `coldpress/history.sqlite` in `$XDG_STATE_HOME` or `~/.local/state`. Under sudo that
/// is root's. Without a verb all studies are listed.
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
/// A study that is `running` is under way; one that is `killed` lost its process, and has the runs that were finished until
/// then.
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
/// Each figure of each contestant: median, quartiles, and the ratio to its baseline, the first contestant as a rule, with its
/// 95 % interval and what that allows to say. Runs that do not count are named with their reasons.
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

/// Write studies into a file
///
/// `json` holds whole studies and is read by `history import` and `bench compare`. `csv` and `parquet` have a row for each
/// figure of each run, and for each figure of a contestant that is the same in all its runs.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress history export 12 --format parquet -o start.parquet")]
pub(crate) struct ExportArgs {
    /// Numbers of the studies [default: all]
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<StudyId>,

    /// What to write: csv, json or parquet
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub(crate) format: ExportFormat,

    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Take in studies of others
///
/// Files of `history export --format json`, and the tables of published studies that are known by their first line: starts of
/// four snaps by compressor, boots of Tails with xz and zstd and how long it takes to compress, and image sizes and times of
/// enroot by block size. A study that is there already is not taken in twice; one that has more runs than before is
/// completed.
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
/// Their numbers are not given again.
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
