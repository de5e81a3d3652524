//! `coldpress hooks`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coldpress_record::hooks::Kind;
use coldpress_report::typed::{parse_positive, parse_size_bytes};

use crate::flags::place::PlaceArgs;
use crate::flags::profile::ShareArgs;
use crate::verbs::prefetch::args::parse_rate;

/// Write what reads ahead in an initrd, before the root is there
///
/// Each kind of initrd starts the small program `coldpress-prefetch` with the bytes of IMAGE that
/// the profile needs, in the order of IMAGE. It goes on in the background, within the limits, gives
/// way to others, and never delays or fails a boot. It reads nothing if the image is another one,
/// or if the kernel's command line has `coldpress.prefetch=0`.
///
/// Build IMAGE first: the list of bytes is of this image. docs/boot.md shows the whole way.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress hooks live-boot filesystem.squashfs --profile boot.profile --add-to initrd.img \\
    -o new-initrd.img
  coldpress hooks dracut /srv/squashfs.img --profile boot.profile --install")]
pub(crate) struct HooksArgs {
    /// The kind of initrd
    #[arg(value_enum)]
    pub(crate) kind: KindName,

    /// The image that will be booted
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// What the boot needs: a profile, or a trace
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: PathBuf,

    /// Write the files below this directory; with --add-to, write this initrd
    #[arg(short, long, value_name = "PATH", required_unless_present = "install")]
    pub(crate) output: Option<PathBuf>,

    /// Write the files into this system, below `/`
    #[arg(long, conflicts_with_all = ["output", "add_to"])]
    pub(crate) install: bool,

    /// Add them to this initrd instead: only for live-boot
    ///
    /// The new initrd is the old one with an archive behind it, as the kernel allows.
    #[arg(long, value_name = "FILE")]
    pub(crate) add_to: Option<PathBuf>,

    /// Where IMAGE is while the system boots [default: where its kind has it]
    #[arg(long, value_name = "PATH")]
    pub(crate) at: Option<String>,

    /// The program for the initrd [default: coldpress-prefetch beside this program or in libexec]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) helper: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) share: ShareArgs,

    /// Read at most this much [default: a quarter of the available memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) max_read: Option<u64>,

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

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// A kind of initrd.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KindName {
    /// Debian live
    LiveBoot,
    /// Ubuntu's live systems
    Casper,
    /// Fedora's, and others
    Dracut,
    /// Arch's
    Mkinitcpio,
    /// A unit, in an initrd or in the system
    Systemd,
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::LiveBoot => Self::LiveBoot,
            KindName::Casper => Self::Casper,
            KindName::Dracut => Self::Dracut,
            KindName::Mkinitcpio => Self::Mkinitcpio,
            KindName::Systemd => Self::Systemd,
        }
    }
}
