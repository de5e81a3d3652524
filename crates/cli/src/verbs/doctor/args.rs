//! `coldpress doctor`: its arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::flags::place::PlaceArgs;

/// Show what this kernel can mount, and whether a target can read an image
///
/// Without IMAGE, prints what this kernel mounts. It knows this from the kernel's configuration; if
/// that cannot be read, as root it mounts a small image of each compressor where nobody sees it.
///
/// With IMAGEs, prints whether this kernel, or the targets, can read each of them. If not, it
/// prints the reason and the command that makes an image that they can read, and ends with exit
/// status 1. Where it does not know, it says unknown, never yes.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress doctor rootfs.sqfs --target openwrt --target debian-12")]
pub(crate) struct DoctorArgs {
    /// The images to judge
    #[arg(value_name = "IMAGE")]
    pub(crate) images: Vec<PathBuf>,

    /// Where the images will be read: a name, or a kernel's configuration [default: here]
    ///
    /// `list` prints the names, with what is known about them and its source. A file is the
    /// configuration of a kernel, such as `/boot/config-*` or `/proc/config.gz`. May be repeated.
    #[arg(short, long, value_name = "NAME|FILE|list")]
    pub(crate) target: Vec<OsString>,

    /// Mount small images even if the kernel's configuration can be read
    ///
    /// Needs root. Nothing is visible outside or left behind.
    #[arg(long = "try", conflicts_with = "target")]
    pub(crate) by_trial: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
