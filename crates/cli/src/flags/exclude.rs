//! What is left out, for the verbs that choose: of sources or of an image.

use std::path::PathBuf;

use clap::Args;

/// Patterns of what is left out.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ExcludeArgs {
    /// Leave out what matches; may be repeated
    ///
    /// A pattern as in a `.gitignore` file, for paths in the image: `*.pyc` anywhere,
    /// `/usr/share/doc` and `usr/*/man` from the root, `cache/` directories only, `**` any
    /// directories. A directory goes with everything in it. A pattern after `!` takes back earlier
    /// ones.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,

    /// Leave out what the patterns in a file match; may be repeated
    ///
    /// One pattern per line; lines that begin with `#` are comments. They apply before those of
    /// --exclude.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) exclude_from: Vec<PathBuf>,
}
