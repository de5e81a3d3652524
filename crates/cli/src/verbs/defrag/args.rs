//! The verb `defrag`.

use std::path::PathBuf;

use clap::Args;

/// Rewrite fragmented files as one extent
///
/// Copies the content into space that is reserved at once, compares it, and replaces the old file
/// under all its names. Keeps owner, mode, times, xattrs, ACLs, attributes, holes and hard links.
/// Leaves a file as it is if the copy is no better.
///
/// Refuses a file that any process has open, and a file of which not all names are given. After an
/// error, Ctrl-C or a kill, every name still stands for a whole file. After a kill between hard
/// links, the same command finishes the work.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Exit status: 0 done or nothing to do, 1 a file was refused, or could not be rewritten

Example:
  coldpress defrag ~/.mozilla/firefox/*/places.sqlite
  coldpress defrag app.sqfs --links-in /srv/images")]
pub(crate) struct DefragArgs {
    /// Regular files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Search DIR for the other names of hard links; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) links_in: Vec<PathBuf>,

    /// Also rewrite files that share blocks with copies or snapshots
    ///
    /// They then take that space a second time.
    #[arg(long)]
    pub(crate) unshare: bool,

    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
