//! `coldpress mksquashfs` and `coldpress sqfstar`: their arguments are read elsewhere.

use std::ffi::OsString;

use clap::Args;

/// Build an image as mksquashfs does, with its options
///
/// Understands the command line of mksquashfs 4.7, also when coldpress is called by the name
/// `mksquashfs`. `coldpress mksquashfs -help` lists the options; those that are not supported are
/// refused by name. An existing image is appended to, or replaced with -noappend.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = "\
Example:
  coldpress mksquashfs rootfs rootfs.sqfs -comp zstd -b 256K -noappend"
)]
pub(crate) struct MksquashfsArgs {
    /// Sources, the image, and options: `SOURCE... IMAGE -comp xz -e PATH...`
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

/// Build an image from a tar stream as sqfstar does, with its options
///
/// Understands the command line of sqfstar 4.7, also when coldpress is called by the name
/// `sqfstar`: the stream is standard input. `coldpress sqfstar -help` lists the options; those that
/// are not supported are refused by name. An existing image is replaced with -force.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = "\
Example:
  coldpress sqfstar -comp zstd -force rootfs.sqfs < rootfs.tar"
)]
pub(crate) struct SqfstarArgs {
    /// Options, the image, and paths to leave out: `-comp xz IMAGE PATH...`
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
