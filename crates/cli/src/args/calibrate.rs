//! The verb `calibrate`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;

use super::number::parse_positive;

/// Measure what this machine takes to read, to decompress and to find
///
/// Measures the disk under PATH by direct reads, and, as root, how fast this kernel decompresses: with images of real
/// programs and texts in memory, of every compressor that it has and of three block sizes, mounted where nobody sees them. Predictions
/// use what is kept of it; without it they use figures of another machine. Nothing is left on the disk.
///
/// Without root the disk is measured all the same, but decompression only in this process, which has other speeds than the kernel;
/// that is said, and the exit status is 1.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Environment:
  COLDPRESS_CALIBRATION  the file to keep it in instead of that in the user's state directory; `off`
                         or empty: nothing is kept

Exit status: 0 done, 1 done without the kernel's speeds, or a throttle lets more through than it says

Example:
  coldpress calibrate /mnt/stick
  coldpress calibrate --device usb2")]
pub(crate) struct CalibrateArgs {
    /// A directory, in which a file without a name is written for a while, or a file or block device, of which nothing but its
    /// bytes is read [default: .]
    #[arg(value_name = "PATH", default_value = ".", hide_default_value = true)]
    pub(crate) path: PathBuf,

    /// Measure how a device of `coldpress press` is slowed down on PATH, and nothing else
    ///
    /// usb2, sd, hdd, emmc, ssd, nvme or numbers. Tells what a start meets there; needs root.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<String>,

    /// About how long it may take [default: 40]
    ///
    /// Most of it goes to making the images, which are smaller for less.
    #[arg(
        long,
        value_name = "N",
        value_parser = parse_positive::<NonZeroU32>,
        default_value = "40",
        hide_default_value = true
    )]
    pub(crate) seconds: NonZeroU32,

    /// Print what is kept, and measure nothing
    #[arg(long, conflicts_with_all = ["path", "device", "seconds"])]
    pub(crate) show: bool,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
