//! The verb `timings`.

use std::path::PathBuf;

use clap::Args;

/// Show how long each task of an earlier operation took
///
/// Builds, extractions, presses, recordings and checks are changes, which consist of tasks. Lists
/// the tasks of the newest change, or of the chosen one, as `snap debug timings` does: `^` marks
/// the parts of a task. Leaves out nested tasks below 5 ms. ~/.local/state/coldpress/history.sqlite
/// keeps the newest 1000 changes; see docs/timings.md.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches that do not depend on each other"
)]
#[command(after_long_help = "\
Example:
  coldpress timings --last=build --verbose")]
pub(crate) struct TimingsArgs {
    /// The number of a change, as `--changes` lists them
    #[arg(value_name = "ID")]
    pub(crate) id: Option<i64>,

    /// The newest change of a verb, such as `build`
    #[arg(long, value_name = "VERB", conflicts_with = "id")]
    pub(crate) last: Option<String>,

    /// Show a change as one activity: one line for all of it, and the tasks below
    ///
    /// As snapd lists what its subsystems do when they start.
    #[arg(long, value_name = "VERB", conflicts_with_all = ["id", "last"])]
    pub(crate) startup: Option<String>,

    /// Show everything: brief tasks too, and without ID all matching changes, the newest first
    #[arg(long)]
    pub(crate) all: bool,

    /// Show the labels of tasks
    #[arg(long)]
    pub(crate) verbose: bool,

    /// List the changes themselves, the newest last
    #[arg(long, conflicts_with_all = ["id", "startup", "verbose"])]
    pub(crate) changes: bool,

    /// Keep what `snap debug timings` printed into FILE, and show it; `-` is standard input
    ///
    /// Understands columns, marks of nesting and lines that a terminal broke. The listing does not
    /// say when a task began, so tasks follow each other.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["id", "last", "startup", "changes"])]
    pub(crate) import: Option<PathBuf>,

    /// Print them as JSON, with all tasks and microseconds
    #[arg(long)]
    pub(crate) json: bool,
}
