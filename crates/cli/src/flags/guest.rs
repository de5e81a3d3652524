//! A virtual machine that boots an image.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coldpress_host::{Accelerator, DiskBus};
use coldpress_report::typed::{parse_positive, parse_size_bytes};

/// A virtual machine, and what it boots.
#[derive(Debug, Args)]
pub(crate) struct GuestArgs {
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
    /// They follow `root=/dev/vda`, or the words of a live ISO's own menu, and
    /// `ro console=ttyS0 loglevel=4 panic=-1 no_timer_check systemd.status_unit_format=name`.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) append: Vec<String>,

    /// What the console prints when the system is ready [default: a login prompt]
    ///
    /// A regular expression for a line, complete or not: a prompt has no end. Colors are removed
    /// first. A kernel panic, or a shell of the initrd or of the emergency mode, ends a boot at
    /// once, as a failure.
    #[arg(
        long = "ready-line",
        value_name = "REGEX",
        default_value = r"\blogin:\s*$",
        hide_default_value = true
    )]
    pub(crate) ready_line: String,

    /// Memory of the machines [default: 1G]
    #[arg(
        long = "guest-memory",
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
