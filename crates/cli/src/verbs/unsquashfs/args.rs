//! `coldpress unsquashfs` and `coldpress sqfscat`: their arguments are read elsewhere.

use std::ffi::OsString;

use clap::Args;

/// List or extract an image as unsquashfs does, with its options
///
/// Understands the command line of unsquashfs 4.7, also when coldpress is called by the name
/// `unsquashfs`. `coldpress unsquashfs -help` lists the options; those that are not supported are
/// refused by name. What it prints is what unsquashfs prints, byte for byte.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = "\
Example:
  coldpress unsquashfs -d out rootfs.sqfs usr/bin"
)]
pub(crate) struct UnsquashfsArgs {
    /// Options, the image, and paths inside it: `-d DIR IMAGE PATH...`
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

/// Print files of an image as sqfscat does, with its options
///
/// Understands the command line of sqfscat 4.7, also when coldpress is called by the name
/// `sqfscat`. `coldpress sqfscat -help` lists the options.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = "\
Example:
  coldpress sqfscat rootfs.sqfs etc/os-release"
)]
pub(crate) struct SqfscatArgs {
    /// Options, the image, and files inside it
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
