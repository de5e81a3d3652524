//! The command to start, and how.

use std::ffi::OsString;
use std::num::NonZeroU64;

use clap::Args;
use coldpress_report::typed::parse_positive;

/// The command to start, and how.
#[derive(Debug, Args)]
pub(crate) struct CommandArgs {
    /// Run COMMAND inside the image
    ///
    /// The mounted image becomes the root directory, with /proc, /dev and a writable /tmp.
    #[arg(long)]
    pub(crate) chroot: bool,

    /// Seconds after which COMMAND has failed and is ended [default: 120]
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "120",
        hide_default_value = true,
        value_parser = parse_positive::<NonZeroU64>
    )]
    pub(crate) timeout: NonZeroU64,

    /// When COMMAND counts as ready [default: exit]
    ///
    /// exit: COMMAND ends with exit status 0. line=REGEX: it writes a line that matches, to
    /// standard output or standard error. port=N: a TCP port accepts connections. socket=PATH: a
    /// Unix socket accepts connections. file=PATH: a file appears or is replaced. window or
    /// window=NAME: an X11 window is mapped; NAME is its class or a part of its title. dbus=NAME or
    /// dbus=system:NAME: a name on the message bus gets an owner. cmd=COMMAND: a shell command
    /// succeeds.
    ///
    /// The start ends there. coldpress then ends COMMAND and all processes that it started. See
    /// docs/benchmark.md.
    #[arg(
        long,
        value_name = "CONDITION",
        default_value = "exit",
        hide_default_value = true
    )]
    pub(crate) ready: OsString,

    /// The program to start and its arguments
    ///
    /// In each argument, `{root}` stands for the directory where the image is mounted. If the verb
    /// has a SOURCE, an argument that is a path in SOURCE becomes the same path in the mount.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
