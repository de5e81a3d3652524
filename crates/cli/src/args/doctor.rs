//! `coldpress doctor`: its arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::place::PlaceArgs;

/// Tell what this kernel can mount, and whether an image will be read somewhere
///
/// Without IMAGE, prints what this kernel mounts: from its configuration or, if that cannot be read
/// and root asks, by mounting a small image of each compressor where nobody sees it.
///
/// With IMAGEs, tells whether this kernel, or the targets, will read each of them; if not, the reason
/// and the command that makes an image that will be read. The exit status is 1 if any is not. What is
/// not known is said to be unknown, never yes.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress doctor rootfs.sqfs --target openwrt --target debian-12")]
pub(crate) struct DoctorArgs {
    /// The images to judge
    #[arg(value_name = "IMAGE")]
    pub(crate) images: Vec<PathBuf>,

    /// Where the images are to be read: a name, or a kernel's configuration [default: here]
    ///
    /// `list` prints the names, with what is known of them and from where. A file is the
    /// configuration of a kernel, as `/boot/config-*` or `/proc/config.gz`. May be given several times.
    #[arg(short, long, value_name = "NAME|FILE|list")]
    pub(crate) target: Vec<OsString>,

    /// Mount small images even if the kernel's configuration can be read
    ///
    /// Needs root. Nothing of it can be seen outside or is left behind.
    #[arg(long = "try", conflicts_with = "target")]
    pub(crate) by_trial: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
