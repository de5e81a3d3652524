//! `coldpress bench boot`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use coldpress_report::typed::parse_positive;

use crate::flags::device::DeviceArgs;
use crate::flags::guest::GuestArgs;
use crate::flags::runs::RunsArgs;
use crate::flags::study::StudyArgs;

/// Compare boots from several images, in virtual machines
///
/// Each IMAGE becomes the disk of a QEMU virtual machine, read-only and slowed down like DEVICE. A
/// boot lasts from the start of the machine until a line on its serial console shows that it is
/// ready. All images boot in every turn, in random order. The first one is the baseline.
///
/// With --kernel, an IMAGE is a root file system. Without it, an IMAGE is a whole disk or a live
/// ISO with its own boot loader, which must use the serial console.
///
/// Every boot is cold: its machine is new, and reads of the disk bypass the page cache of this
/// machine. Needs no root.
#[derive(Debug, Args)]
#[command(
    mut_arg("append", |arg| arg.requires("kernel")),
    mut_arg("ready_line", |arg| arg.alias("ready")),
    mut_arg("memory", |arg| arg.alias("memory")),
    after_long_help = "\
Example:
  coldpress bench boot xz.sqfs zstd.sqfs --kernel vmlinuz --initrd initrd.img --device usb2 \\
    --chart charts"
)]
pub(crate) struct BootArgs {
    /// The images to boot; the first one is `before`
    #[arg(value_name = "IMAGE", required = true)]
    pub(crate) images: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) guest: GuestArgs,

    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    #[command(flatten)]
    pub(crate) runs: RunsArgs,

    /// The name of an image in tables; once for each [default: its file name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Vec<String>,

    /// Write a boot chart of each image into this directory, as SVG and JSON
    ///
    /// The chart shows processors, disk and services over the time of the median boot, seen from
    /// outside and on the console. Each image then boots once more with the kernel's tracepoints on
    /// the console, which show its processes. That boot takes longer and does not count.
    #[arg(long, value_name = "DIR")]
    pub(crate) chart: Option<PathBuf>,

    /// Seconds after which a boot has failed [default: 300]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = parse_positive::<NonZeroU64>,
        default_value = "300",
        hide_default_value = true
    )]
    pub(crate) timeout: NonZeroU64,

    #[command(flatten)]
    pub(crate) study: StudyArgs,
}
