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
    /// `**` stands for any number of directories. If a directory matches, everything in it is left
    /// out too. A pattern that begins with `!` keeps what earlier patterns leave out.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,

    /// Leave out what the patterns in a file match; may be repeated
    ///
    /// The file has one pattern per line; lines that begin with `#` are comments. Its patterns come
    /// before those of --exclude.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) exclude_from: Vec<PathBuf>,
}
