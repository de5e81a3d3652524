//! The verb `calibrate`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use coldpress_report::typed::parse_positive;

/// Measure how fast this machine reads, decompresses and looks up files
///
/// Measures the disk of PATH with direct reads, and, as root, how fast this kernel decompresses: it
/// mounts images of real programs and texts in memory, with every compressor of the kernel and
/// three block sizes, where nobody sees them. Predictions use the kept figures; without them they
/// use figures of another machine. Leaves nothing on the disk.
///
/// Without root, calibrate measures the disk, but decompression only in this process, which is not
/// as fast as the kernel. It says so and ends with exit status 1.
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
    /// A directory to write a temporary file without a name into, or a file or block device to read
    /// [default: .]
    #[arg(value_name = "PATH", default_value = ".", hide_default_value = true)]
    pub(crate) path: PathBuf,

    /// Measure how a device of `coldpress press` slows down PATH, and nothing else
    ///
    /// usb2, sd, hdd, emmc, ssd, nvme or numbers. Shows what a start finds on that device; needs
    /// root.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<String>,

    /// About how many seconds it may take [default: 40]
    ///
    /// Most of the time goes to making the images; with less time they are smaller.
    #[arg(
        long,
        value_name = "N",
        value_parser = parse_positive::<NonZeroU32>,
        default_value = "40",
        hide_default_value = true
    )]
    pub(crate) seconds: NonZeroU32,

    /// Print the kept figures, and measure nothing
    #[arg(long, conflicts_with_all = ["path", "device", "seconds"])]
    pub(crate) show: bool,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
