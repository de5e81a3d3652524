//! The verb `stat`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::flags::place::PlaceArgs;

/// Show everything about a path, and where the image stores it
///
/// Prints metadata, and the image bytes of the inode, of the data blocks, of the fragment block
/// with the tail end, and of a directory's listing and its index. Follows symbolic links on the
/// way, but not at the end.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress stat --blocks rootfs.sqfs /usr/bin/python3")]
pub(crate) struct StatArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Paths inside the image
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<OsString>,

    /// Also follow a symbolic link at the end of PATH
    #[arg(long)]
    pub(crate) follow: bool,

    /// List each data block
    #[arg(long)]
    pub(crate) blocks: bool,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}
