//! The verb `stat`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::place::PlaceArgs;

/// Show all that an image says of a path, and where in the image it says so
///
/// Metadata, and the image bytes of the inode, of the data blocks, of the fragment block that has
/// the tail end, of a directory's listing and its index. Symbolic links on the way are followed,
/// one at the end is not.
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

    /// Follow a symbolic link at the end of PATH too
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
