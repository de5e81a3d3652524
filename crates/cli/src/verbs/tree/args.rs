//! The verb `tree`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::flags::place::PlaceArgs;

/// Show the files of an image as a tree
///
/// Names are in byte order; unprintable bytes appear as `\xNN`. The last line counts directories,
/// without the one at the top, and everything else.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress tree -L 2 rootfs.sqfs /usr")]
pub(crate) struct TreeArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// A path inside the image
    #[arg(value_name = "PATH", default_value = "/", hide_default_value = true)]
    pub(crate) path: OsString,

    /// Show at most N levels below PATH
    #[arg(short = 'L', long, value_name = "N")]
    pub(crate) depth: Option<usize>,

    /// Show the size of each file, in bytes
    #[arg(short, long)]
    pub(crate) sizes: bool,

    /// Print it as JSON, with the contents of directories inside them
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}
