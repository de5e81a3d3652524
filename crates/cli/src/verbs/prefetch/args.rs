//! `coldpress prefetch`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use coldpress_report::typed::{parse_positive, parse_size_bytes};

use crate::flags::place::PlaceArgs;
use crate::flags::profile::ShareArgs;

/// Read ahead what a start needs
///
/// IMAGE, a file: reads the compressed blocks of the profile into the page cache, where a loop
/// device or a mount in user space finds them. This does not help an image on a partition, which
/// the kernel reads past the page cache. MOUNT, a directory: reads the pages of the profile through
/// the mount, which also decompresses them.
///
/// Limits bytes and time, and gives up when other programs need the disk. docs/prefetch.md says
/// when it helps.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress prefetch /run/live/filesystem.squashfs --profile boot.profile
  coldpress prefetch /snap/firefox/current --profile firefox.profile --systemd > prefetch.service")]
pub(crate) struct PrefetchArgs {
    /// The image, or the directory where it is mounted
    #[arg(value_name = "IMAGE|MOUNT")]
    pub(crate) target: PathBuf,

    /// What the start needs: a profile, or a trace
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: PathBuf,

    #[command(flatten)]
    pub(crate) share: ShareArgs,

    /// Read at most this much [default: a quarter of the available memory]
    #[arg(long = "max-read", alias = "memory", value_name = "SIZE",
        value_parser = parse_size_bytes)]
    pub(crate) memory: Option<u64>,

    /// Read at most this much per second [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = parse_rate)]
    pub(crate) bandwidth: Option<NonZeroU64>,

    /// Give up after this many seconds [default: 60]
    #[arg(
        long = "for",
        value_name = "SECONDS",
        value_parser = parse_positive::<NonZeroU64>,
        default_value = "60",
        hide_default_value = true
    )]
    pub(crate) limit_s: NonZeroU64,

    /// Print a systemd unit that prefetches at each boot, and read nothing
    #[arg(long)]
    pub(crate) systemd: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// A number of bytes in a second.
pub(crate) fn parse_rate(text: &str) -> Result<NonZeroU64, String> {
    NonZeroU64::new(parse_size_bytes(text)?).ok_or_else(|| "nothing would be read".to_owned())
}
