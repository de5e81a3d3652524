//! `coldpress squashfuse` and `coldpress squashfuse_ll`: their arguments are read elsewhere.

use std::ffi::OsString;

use clap::Args;

/// Mount an image as squashfuse does, with its options
///
/// Takes the command line of squashfuse 0.6, also when coldpress is called by the name
/// `squashfuse`. `coldpress squashfuse -h` lists the options, and docs/squashfuse.md says what each
/// does.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = "\
Example:
  coldpress squashfuse -o offset=auto app.AppImage /tmp/app"
)]
pub(crate) struct SquashfuseArgs {
    /// Options, the image and a directory: `-o OPTIONS IMAGE DIR`
    #[arg(
        value_name = "ARGUMENT",
        allow_hyphen_values = true,
        trailing_var_arg = true
    )]
    pub(crate) words: Vec<OsString>,
    /// Print this help
    #[arg(long, action = clap::ArgAction::HelpLong)]
    pub(crate) help: Option<bool>,
}

/// Mount an image as `squashfuse_ll` does, with its options
///
/// Understands the command line of `squashfuse_ll` 0.6, also when coldpress is called by this name.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = "\
Example:
  coldpress squashfuse_ll -f -o uid=1000,notify_pipe=ready rootfs.sqfs /tmp/rootfs"
)]
pub(crate) struct SquashfuseLlArgs {
    /// Options, the image and a directory: `-o OPTIONS IMAGE DIR`
    #[arg(
        value_name = "ARGUMENT",
        allow_hyphen_values = true,
        trailing_var_arg = true
    )]
    pub(crate) words: Vec<OsString>,
    /// Print this help
    #[arg(long, action = clap::ArgAction::HelpLong)]
    pub(crate) help: Option<bool>,
}
