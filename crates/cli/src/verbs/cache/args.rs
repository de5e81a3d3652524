//! `coldpress cache`: its command line.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// List or remove what was pulled from registries
///
/// Layers, manifests and configurations of container images are kept by their digests, so that the
/// next pull fetches only what is new. Images that `coldpress pyxis-importer` built are kept too.
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    disable_help_subcommand = true,
    after_long_help = "\
Example:
  coldpress cache prune --older-than 30"
)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) verb: CacheVerb,
}

/// What to do with the cache.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheVerb {
    Ls(CacheLsArgs),
    Prune(CachePruneArgs),
}

/// List what is kept
///
/// Prints the size of each part, the days since it was used, and its digest; of an image, its path.
/// Parts that are not whole yet are marked.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress cache ls --json")]
pub(crate) struct CacheLsArgs {
    /// Directory for what comes from registries [default: coldpress/containers in the user's cache]
    #[arg(long = "blob-cache", value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Remove what was not used for some time
///
/// Waits until no other coldpress uses the cache. Mounted images stay readable.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress cache prune --older-than 30")]
pub(crate) struct CachePruneArgs {
    /// Directory for what comes from registries [default: coldpress/containers in the user's cache]
    #[arg(long = "blob-cache", value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,

    /// Keep what was used in the last DAYS days [default: 0, which keeps nothing]
    #[arg(
        long,
        value_name = "DAYS",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) older_than: u32,
}
