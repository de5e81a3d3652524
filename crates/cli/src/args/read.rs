//! The verbs that look into an image: `ls`, `cat`, `info`, `check`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use coldpress_report::typed::parse_size_bytes;

use super::place::PlaceArgs;
use super::reading::ReadingArgs;

/// List the files of an image
///
/// One name per line, in byte order. Prints unprintable bytes as `\xNN`, so a line is always one
/// name. Prints full paths with -R and if several PATHs are given. Follows symbolic links inside
/// the image where a PATH leads through them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress ls -lR rootfs.sqfs /usr/bin")]
pub(crate) struct LsArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Paths inside the image [default: /]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// Show type and mode, links, owner, group, size and time
    ///
    /// Owners are numbers; times are UTC. A device shows its major and minor number instead of a
    /// size.
    #[arg(short = 'l', long)]
    pub(crate) long: bool,

    /// Show everything below, with full paths
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,

    /// Print everything about each file as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Print files of an image
///
/// Writes the content of each PATH to standard output, one after the other. Follows symbolic links
/// inside the image. Decompresses large files on several threads.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress cat rootfs.sqfs /etc/os-release")]
pub(crate) struct CatArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Files inside the image
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<OsString>,

    /// Leave out this many bytes at the beginning of each file
    ///
    /// Their blocks are not read.
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes, default_value = "0", hide_default_value = true)]
    pub(crate) skip: u64,

    /// Print at most this many bytes of each file
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) length: Option<u64>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Show what an image consists of
///
/// Prints the superblock, the options of the compressor, how many files of each type there are, and
/// what share of the image each part takes.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress info rootfs.sqfs --json")]
pub(crate) struct InfoArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Check every structure and every block of an image
///
/// Reads and decompresses everything, follows every reference, and checks to what every byte
/// belongs. Prints all problems, each with its path and the byte of the image.
///
/// The exit status is 1 if there is an error: something that a reader fails at or reads wrong. What
/// is legal but unusual, such as bytes that nothing refers to, is a notice.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress check rootfs.sqfs && echo sound")]
pub(crate) struct CheckArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Leave out notices: what is legal but unusual
    #[arg(long)]
    pub(crate) no_notices: bool,

    /// Print the problems as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}
