//! The verb `extents`.

use std::path::PathBuf;

use clap::Args;

/// Show how fragmented files of a plain file system are
///
/// Prints the extents of each file: contiguous ranges of bytes on the disk. One is best. Each more
/// costs a seek on a hard disk or SD card, even if the file is an image that programs start from.
/// For a directory, prints all files below it on the same file system, those with the most extents
/// first.
///
/// With --trace, prints the files that a recorded start touches: in the order of their first
/// access, beside their order on the disk, with the seeks of a start, and how many of them come
/// from fragmentation. Needs no root. `coldpress defrag` rewrites such files.
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

    /// The files that the start in this trace touched
    #[arg(long, value_name = "TRACE", requires = "roots")]
    pub(crate) trace: Option<PathBuf>,

    /// The directory where the paths of the trace begin; may be repeated: the first that has a file
    /// counts
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
