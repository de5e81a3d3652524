//! The verb `extents`.

use std::path::PathBuf;

use clap::Args;

/// Show how files of a plain file system lie on their disk
///
/// For each file, its extents: runs of bytes that follow each other on the disk. One is best; each more is a seek of a hard
/// disk or an SD card, also if the file is an image that starts are read from. Of a directory, all files below it on
/// the same file system are shown, those of most extents first.
///
/// With --trace, the files that a recorded start touches: in the order of their first access, beside their order on the
/// disk, with the seeks that a start has to make, and how many of them are owed to fragmentation. No root is needed;
/// `coldpress defrag` mends.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress extents /var/lib/snapd/snaps ~/.mozilla
  coldpress extents --trace start.trace --root /opt/app")]
pub(crate) struct ExtentsArgs {
    /// Files and directories
    #[arg(
        value_name = "PATH",
        required_unless_present = "trace",
        conflicts_with = "trace"
    )]
    pub(crate) paths: Vec<PathBuf>,

    /// The files that this start touched, as of `coldpress record`
    #[arg(long, value_name = "TRACE", requires = "roots")]
    pub(crate) trace: Option<PathBuf>,

    /// Where the paths of the trace begin; may be repeated, the first one that has a file counts
    #[arg(
        long = "root",
        value_name = "DIR",
        requires = "trace",
        conflicts_with = "paths"
    )]
    pub(crate) roots: Vec<PathBuf>,

    /// Print no more than N files
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,

    /// Print them as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
