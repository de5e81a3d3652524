//! `coldpress identify`.

use std::path::PathBuf;

use clap::Args;

use crate::flags::place::PlaceArgs;

/// Find out which tool made an image, and with which options
///
/// Compresses blocks of the image again, with the libraries and levels that tools use, until the
/// bytes are the same. The numbers and positions of inodes show the tool. Prints what it found and
/// how many of how many blocks match; for everything else it prints unknown.
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
