//! What is left out, for the verbs that choose: of sources or of an image.

use std::path::PathBuf;

use clap::Args;

/// Patterns of what is left out.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ExcludeArgs {
    /// Leave out what matches; may be repeated
    ///
    /// A pattern as in a `.gitignore` file, for paths in the image: `*.pyc` matches anywhere,
    /// `/usr/share/doc` and `usr/*/man` match from the root, `cache/` matches only directories, and
    /// `**` stands for any directories. If a directory matches, everything in it goes too. A
    /// pattern after `!` takes back earlier ones.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,

    /// Leave out what the patterns in a file match; may be repeated
    ///
    /// One pattern per line; lines that begin with `#` are comments. They apply before those of
    /// --exclude.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) exclude_from: Vec<PathBuf>,
}
