//! `coldpress info`: its command line.

use std::path::PathBuf;

use clap::Args;

use crate::flags::place::PlaceArgs;

/// Show what an image consists of
///
/// Prints the superblock, the options of the compressor, how many files of each type there are, and
/// what share of the image each part takes. With `--offset auto`, also what the SIF container
/// around the image holds.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress info rootfs.sqfs --json")]
pub(crate) struct InfoArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}
