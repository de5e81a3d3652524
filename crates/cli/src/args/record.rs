//! `coldpress record`, and what it shares with `press`: the command to start.

use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;

use super::number::parse_positive;

/// Record what a cold start of COMMAND reads from SOURCE
///
/// Builds a temporary image of SOURCE, mounts it through the kernel, starts COMMAND with cold
/// caches, and writes every page that it read or mapped and every file that it opened or looked
/// up, in order. Needs root: mounting and the kernel's trace events are its privilege.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress record rootfs -o start.trace --chroot -- /usr/bin/python3 -c 'import json'")]
pub(crate) struct RecordArgs {
    /// The directory whose start is recorded
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,

    /// Where the trace goes [default: standard output]
    #[arg(short, long, value_name = "TRACE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) command: CommandArgs,
}

/// The command to start, and how.
#[derive(Debug, Args)]
pub(crate) struct CommandArgs {
    /// Run COMMAND inside the image
    ///
    /// The mounted image becomes the root directory, with /proc, /dev and a writable /tmp.
    #[arg(long)]
    pub(crate) chroot: bool,

    /// Seconds after which COMMAND has failed, and is ended [default: 120]
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "120",
        hide_default_value = true,
        value_parser = parse_positive::<NonZeroU64>
    )]
    pub(crate) timeout: NonZeroU64,

    /// What shows that COMMAND is ready [default: exit]
    ///
    /// exit: it ends, with exit code 0. line=REGEX: it writes such a line to either output. port=N: a TCP port accepts
    /// connections. socket=PATH: a Unix socket does. file=PATH: a file appears or is replaced. window or window=NAME: an
    /// X11 window is mapped; NAME is its class or a part of its title. dbus=NAME or dbus=system:NAME: a name on the
    /// message bus gets an owner. cmd=COMMAND: a shell command succeeds. The start is over then, and COMMAND is ended
    /// with all that it started; docs/benchmark.md tells how.
    #[arg(
        long,
        value_name = "CONDITION",
        default_value = "exit",
        hide_default_value = true
    )]
    pub(crate) ready: OsString,

    /// The program to start and its arguments
    ///
    /// Arguments that name a path inside SOURCE are rewritten to the mount; `{root}` stands for
    /// the directory of the mount.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
