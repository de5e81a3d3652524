//! The verb `readahead`.

use std::path::PathBuf;

use clap::Args;
use coldpress_report::typed::parse_size_bytes;

/// Show or set how far the kernel reads ahead in mounted images
///
/// Shows the setting of TARGET, or of every SquashFS mount. With --set, changes it until the mount
/// ends; that needs root. Less readahead reads less of large programs and libraries; files that are
/// read from beginning to end gain from more. `coldpress predict --readahead` and `coldpress bench
/// launch --readahead` compare values.
///
/// SquashFS raises the readahead of its device to four blocks when it mounts, so a smaller value
/// must be set after the mount, each time. --systemd and --initramfs print what does so.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress readahead /snap/foo/current --set 16K
  coldpress readahead /srv/app.sqfs --set 1M --udev >/etc/udev/rules.d/90-readahead.rules")]
pub(crate) struct ReadaheadVerbArgs {
    /// A mount point, an image file that is mounted, or a block device
    #[arg(value_name = "TARGET", conflicts_with = "initramfs")]
    pub(crate) target: Option<PathBuf>,

    /// Set it to this, for example 0 or 16K
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) set: Option<u64>,

    #[command(flatten)]
    pub(crate) on_boot: OnBootArgs,

    /// Print it as JSON
    #[arg(long, conflicts_with = "printed")]
    pub(crate) json: bool,
}

/// What sets it on the machine of a user, each time.
#[derive(Debug, Args)]
#[group(id = "printed", multiple = false)]
pub(crate) struct OnBootArgs {
    /// Print a rule of udev that sets it before an image file is mounted
    ///
    /// For values over four blocks.
    #[arg(long, requires = "set", requires = "target")]
    pub(crate) udev: bool,

    /// Print a systemd unit that sets it once TARGET, a mount point, is mounted
    #[arg(long, requires = "set", requires = "target")]
    pub(crate) systemd: bool,

    /// Print a script for initramfs-tools that sets it for every image a live system mounts
    ///
    /// Put it into /etc/initramfs-tools/scripts/live-bottom (casper-bottom on Ubuntu), make it
    /// executable, and run update-initramfs.
    #[arg(long, requires = "set")]
    pub(crate) initramfs: bool,
}
