//! `coldpress record`: its command line.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Arg, Args};
use coldpress_report::typed::parse_positive;

use crate::flags::command::CommandArgs;
use crate::flags::container::ContainerArgs;
use crate::flags::guest::GuestArgs;
use crate::flags::readahead::ReadaheadArgs;
use crate::flags::recorder::RecorderArgs;

/// Record what a start of COMMAND reads from SOURCE
///
/// As root, record builds a temporary image of SOURCE, mounts it through the kernel and starts
/// COMMAND with empty caches. It writes every page that COMMAND read or mapped, and every file that
/// COMMAND opened or looked up, in order. Without root, it records from a mount in user space. If
/// that is not possible, it starts COMMAND from SOURCE itself and records whole files instead of
/// pages. See --recorder.
///
/// If SOURCE is a container image and you give no COMMAND, record starts the image's own command
/// inside the image.
///
/// With --mounted, record writes what a running system reads from a SquashFS image that is already
/// mounted, until COMMAND ends, the time of --for has passed, or a signal arrives. --boot writes
/// systemd units that record in this way from early in the boot on.
///
/// With --vm, record boots SOURCE in a virtual machine and writes what the whole boot reads, from
/// the first mount in the initrd on. SOURCE is a live ISO, or a root file system to which you give
/// --kernel. Needs QEMU and no root.
#[derive(Debug, Args)]
#[command(
    mut_arg("command", |arg| arg.required(false)),
    mut_arg("kernel", of_vm),
    mut_arg("initrd", of_vm),
    mut_arg("append", of_vm_hidden),
    mut_arg("ready_line", of_vm_hidden),
    mut_arg("memory", of_vm_hidden),
    mut_arg("cpus", of_vm_hidden),
    mut_arg("bus", of_vm_hidden),
    mut_arg("accelerator", of_vm_hidden),
    mut_arg("qemu", of_vm_hidden),
    after_long_help = "\
Example:
  coldpress record rootfs -o start.trace --chroot -- /usr/bin/python3 -c 'import json'
  coldpress record --mounted /snap/firefox/current -o firefox.trace --for 20 -- firefox
  coldpress record --vm debian-live.iso -o boot.trace
  coldpress record --vm root.sqfs --kernel vmlinuz --initrd initrd.img -o boot.trace
  coldpress record --boot /etc/systemd/system --mounted /run/live/rootfs/filesystem.squashfs \\
    -o /var/lib/coldpress/boot.trace"
)]
pub(crate) struct RecordArgs {
    /// The directory or container image to record a start from
    #[arg(value_name = "SOURCE", required_unless_present = "mounted")]
    pub(crate) source: Option<PathBuf>,

    /// The trace to write [default: standard output]
    ///
    /// With --runs, `{}` in its name stands for the number of the recording.
    #[arg(short, long, value_name = "TRACE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) recorder: RecorderArgs,

    #[command(flatten)]
    pub(crate) readahead: ReadaheadArgs,

    /// Recordings to make, one after the other [default: 1]
    ///
    /// Each goes to a file of its own. Afterwards, record prints how much they have in common.
    #[arg(
        long,
        value_name = "N",
        value_parser = parse_positive::<NonZeroU64>,
        default_value = "1",
        hide_default_value = true
    )]
    pub(crate) runs: NonZeroU64,

    /// Seconds after which the recording ends, even if COMMAND is not ready
    ///
    /// record then ends COMMAND, first with SIGTERM, and the recording counts as complete.
    /// --timeout does not apply.
    #[arg(long = "for", value_name = "SECONDS", value_parser = parse_positive::<NonZeroU64>)]
    pub(crate) limit_s: Option<NonZeroU64>,

    /// Measure how much recording slows the start down
    ///
    /// record alternates starts with and without recording.
    #[arg(long)]
    pub(crate) cost: bool,

    /// Record what all programs use of the SquashFS image that is mounted on DIR
    ///
    /// The recording ends when COMMAND ends or is ready (--ready), when the time of --for has
    /// passed, or on SIGINT or SIGTERM. Then record writes the trace. It does not empty any cache
    /// first. Needs root and Linux 6.12 or later.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["source", "recorder", "readahead", "runs", "cost", "chroot"]
    )]
    pub(crate) mounted: Option<PathBuf>,

    /// Write systemd units into DIR that record a boot with --mounted
    ///
    /// coldpress-record.service begins to record as soon as TRACE can be written, and
    /// coldpress-record-end.service ends the recording. Enable both with `systemctl enable`, and
    /// restart the system.
    #[arg(
        long,
        value_name = "DIR",
        requires_all = ["mounted", "output"],
        conflicts_with = "command"
    )]
    pub(crate) boot: Option<PathBuf>,

    /// With --boot, the unit after which the recording ends [default: display-manager.service]
    #[arg(
        long,
        value_name = "UNIT",
        requires = "boot",
        default_value = "display-manager.service",
        hide_default_value = true,
        hide_short_help = true
    )]
    pub(crate) stop_after: String,

    /// Record a boot of SOURCE, in a virtual machine that is watched from outside
    ///
    /// QEMU tells of each request to the disk, which shows SOURCE in a layout that makes each page
    /// distinguishable. --timeout limits the boot; without KVM, machines are some ten times slower.
    #[arg(
        long,
        conflicts_with_all = [
            "mounted", "boot", "recorder", "readahead", "cost", "chroot", "ready", "command",
        ]
    )]
    pub(crate) vm: bool,

    /// With --vm, go on after the system is ready until it reads nothing for so many seconds
    ///
    /// For a desktop that starts after the login prompt of the console.
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "vm",
        hide_short_help = true,
        value_parser = parse_positive::<NonZeroU64>
    )]
    pub(crate) quiet_for: Option<NonZeroU64>,

    #[command(flatten)]
    pub(crate) guest: GuestArgs,

    #[command(flatten)]
    pub(crate) command: CommandArgs,

    #[command(flatten)]
    pub(crate) container: ContainerArgs,
}

/// A flag of [`GuestArgs`] means something only with --vm.
fn of_vm(arg: Arg) -> Arg {
    arg.requires("vm")
}

fn of_vm_hidden(arg: Arg) -> Arg {
    of_vm(arg).hide_short_help(true)
}
