//! The verbs that read an image: `extract`, `ls`, `cat`, `info`, `check`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::number::{parse_positive, parse_size_bytes};

/// Extract an image, or some of its paths, into a directory
///
/// Restores content, holes, hard links, modes, times, device files, and, as far as the caller may,
/// owners and extended attributes. Nothing is written outside DIR, whatever the image says.
///
/// What could not be restored is named; the rest is still extracted, and the exit status is 1.
/// After an error or an interruption the files that were finished stay, and no other.
/// Who is not root gets files of their own without set-id bits, as from other archives.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress extract rootfs.sqfs out /usr/bin /etc/passwd")]
pub(crate) struct ExtractArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Where the files go; created if it is missing
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,

    /// Paths inside the image, with all below them [default: everything]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// Extract into a directory that holds something
    ///
    /// Files in the way are replaced; directories are kept and added to.
    #[arg(short, long)]
    pub(crate) force: bool,

    /// Leave extended attributes out
    #[arg(long)]
    pub(crate) no_xattrs: bool,

    /// Threads that decompress [default: as many as this process may use]
    #[arg(short = 'j', long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Memory for blocks in flight [default: 256M, or less if limited]
    ///
    /// At most a quarter of the memory limit of the control group.
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) memory: Option<u64>,

    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// List the files of an image
///
/// One name on each line, in byte order. Bytes that do not print stand as `\xNN`, so a line is
/// always one name. Full paths are printed with -R and when several PATHs are given. Symbolic
/// links inside the image are followed where a PATH leads through them.
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

    /// Print all that is known of each file as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print files of an image
///
/// Writes the content of each PATH to standard output, one after the other. Symbolic links inside
/// the image are followed.
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
}

/// Show what an image is made of
///
/// The superblock, the options of the compressor, how many files of each type there are, and what
/// share of the image each part takes.
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
}

/// Check every structure and every block of an image
///
/// Reads and decompresses everything, follows every reference, and asks of every byte whom it
/// belongs to. All problems are printed, each with its path and the byte of the image.
///
/// The exit status is 1 if there is an error: something that a reader fails at or reads wrong. What
/// is legal but unusual, such as bytes that nothing refers to, is printed as a notice.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress check rootfs.sqfs && echo sound")]
pub(crate) struct CheckArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Leave out what is only unusual
    #[arg(long)]
    pub(crate) no_notices: bool,

    /// Print the problems as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
