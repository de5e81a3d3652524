//! `coldpress ls`: its command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::flags::place::PlaceArgs;

/// List the files of an image
///
/// One name per line, in byte order. Prints unprintable bytes as `\xNN`, so a line is always one
/// name. Prints full paths with -R and if several PATHs are given. Follows symbolic links inside
/// the image where a PATH leads through them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress ls -lR rootfs.sqfs /usr/bin")]
pub(crate) struct LsArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Paths inside the image [default: /]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// Show type and mode, links, owner, group, size and time
    ///
    /// Owners are numbers; times are UTC. A device shows its major and minor number instead of a
    /// size.
    #[arg(short = 'l', long)]
    pub(crate) long: bool,

    /// Show everything below, with full paths
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,

    /// Print everything about each file as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}
