//! `coldpress check`: its command line.

use std::path::PathBuf;

use clap::Args;

use crate::flags::place::PlaceArgs;

/// Check every structure and every block of an image
///
/// Reads and decompresses everything, follows every reference, and checks to what every byte
/// belongs. Prints all problems, each with its path and the byte of the image.
///
/// The exit status is 1 if there is an error: something that a reader fails at or reads wrong. What
/// is legal but unusual, such as bytes that nothing refers to, is a notice.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress check rootfs.sqfs && echo sound")]
pub(crate) struct CheckArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Leave out notices: what is legal but unusual
    #[arg(long)]
    pub(crate) no_notices: bool,

    /// Print the problems as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}
