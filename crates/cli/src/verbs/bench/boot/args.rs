//! `coldpress bench boot`.

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coldpress_host::{Accelerator, DiskBus};
use coldpress_report::typed::{parse_positive, parse_size_bytes};

use crate::flags::device::DeviceArgs;
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
#[command(after_long_help = "\
Example:
  coldpress bench boot xz.sqfs zstd.sqfs --kernel vmlinuz --initrd initrd.img --device usb2 \\
    --chart charts")]
pub(crate) struct BootArgs {
    /// The images to boot; the first one is `before`
    #[arg(value_name = "IMAGE", required = true)]
    pub(crate) images: Vec<PathBuf>,

    /// Boot this kernel, with IMAGE as root file system
    ///
    /// The kernel or the initrd needs drivers for virtio disks and for the file system of IMAGE.
    #[arg(long, value_name = "FILE")]
    pub(crate) kernel: Option<PathBuf>,

    /// The initrd of the kernel
    #[arg(long, value_name = "FILE", requires = "kernel")]
    pub(crate) initrd: Option<PathBuf>,

    /// More words for the kernel command line; may be repeated
    ///
    /// They follow
    /// `root=/dev/vda ro console=ttyS0 loglevel=4 panic=-1 systemd.status_unit_format=name`.
    #[arg(
        long,
        value_name = "WORDS",
        requires = "kernel",
        allow_hyphen_values = true
    )]
    pub(crate) append: Vec<String>,

    /// What the console prints when the system is ready [default: a login prompt]
    ///
    /// A regular expression for a line, complete or not: a prompt has no end. Colors are removed
    /// first. A kernel panic, or a shell of the initrd or of the emergency mode, ends a boot at
    /// once, as a failure.
    #[arg(
        long = "ready-line",
        alias = "ready",
        value_name = "REGEX",
        default_value = r"\blogin:\s*$",
        hide_default_value = true
    )]
    pub(crate) ready: String,

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

    /// Memory of the machines [default: 1G]
    #[arg(
        long = "guest-memory", alias = "memory",
        value_name = "SIZE",
        value_parser = parse_size_bytes,
        default_value = "1G",
        hide_default_value = true
    )]
    pub(crate) memory: u64,

    /// Processors of the machines [default: 2, or 1 if there is only one]
    #[arg(long, value_name = "N", value_parser = parse_positive::<NonZeroU32>)]
    pub(crate) cpus: Option<NonZeroU32>,

    /// How the images are attached [default: virtio]
    #[arg(
        long,
        value_enum,
        default_value_t = BusName::Virtio,
        hide_default_value = true,
        hide_short_help = true
    )]
    pub(crate) bus: BusName,

    /// What runs the processors [default: kvm if it works, otherwise tcg]
    #[arg(long, value_enum, hide_short_help = true)]
    pub(crate) accelerator: Option<AcceleratorName>,

    /// The program of QEMU
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "qemu-system-x86_64",
        hide_short_help = true
    )]
    pub(crate) qemu: OsString,

    #[command(flatten)]
    pub(crate) study: StudyArgs,
}

/// How a disk is attached.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum BusName {
    /// A virtio disk: /dev/vda
    Virtio,
    /// A USB stick: /dev/sda
    Usb,
    /// A drive for CDs and DVDs: /dev/sr0
    Cdrom,
}

impl From<BusName> for DiskBus {
    fn from(name: BusName) -> Self {
        match name {
            BusName::Virtio => Self::Virtio,
            BusName::Usb => Self::Usb,
            BusName::Cdrom => Self::Cdrom,
        }
    }
}

/// What runs the processors of a virtual machine.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum AcceleratorName {
    /// The processor of this machine
    Kvm,
    /// QEMU emulates a processor, which is much slower
    Tcg,
}

impl From<AcceleratorName> for Accelerator {
    fn from(name: AcceleratorName) -> Self {
        match name {
            AcceleratorName::Kvm => Self::Kvm,
            AcceleratorName::Tcg => Self::Tcg,
        }
    }
}
