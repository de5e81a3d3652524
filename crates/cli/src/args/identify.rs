//! `coldpress identify`.

use std::path::PathBuf;

use clap::Args;

use super::place::PlaceArgs;

/// Find out which tool made an image, and how
///
/// Blocks of the image are compressed again, by the libraries and levels that tools use, until they
/// come out byte for byte; how inodes are numbered and lie tells the tool. What is printed is what
/// was found, with how many of how many blocks match; what cannot be told is said to be unknown.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress identify rootfs.sqfs")]
pub(crate) struct IdentifyArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}
