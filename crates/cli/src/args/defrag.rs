//! The verb `defrag`.

use std::path::PathBuf;

use clap::Args;

/// Rewrite files so that each lies in one extent
///
/// The content is copied into space that is reserved at once, compared, and put in the place of the old file under all its
/// names. Owner, mode, times, xattrs, ACLs, attributes, holes and hard links are kept. What lies no better as a copy
/// is left as it was.
///
/// A file that any process has open is refused, and so is one of which not all names are given. After an error, Ctrl-C or a
/// kill every name stands for a whole file; after a kill among hard links, the same command ends what was begun.
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

    /// Rewrite files too that share blocks with copies or snapshots
    ///
    /// They take that space a second time then.
    #[arg(long)]
    pub(crate) unshare: bool,

    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
