//! `coldpress check`: its command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::flags::place::PlaceArgs;

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
  coldpress check rootfs.sqfs && echo sound
  coldpress check app.snap --target snap-store
  coldpress check app.raw --roothash app.roothash")]
pub(crate) struct CheckArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Verify the image against its hash tree and this root hash: digits, or a file with them
    ///
    /// Compares every block with the hash tree as the kernel's dm-verity would, and names the first
    /// that differs. The tree is that of --hash-tree, otherwise the one that was appended to
    /// IMAGE, otherwise the file beside it, such as `app.verity` for `app.raw`.
    #[arg(long, value_name = "FILE|HEX")]
    pub(crate) roothash: Option<OsString>,

    /// The file with the hash tree, if it is neither in IMAGE nor beside it
    #[arg(
        long,
        value_name = "FILE",
        requires = "roothash",
        hide_short_help = true
    )]
    pub(crate) hash_tree: Option<PathBuf>,

    /// Where the image will be read: a name, or a kernel's configuration
    ///
    /// Prints each rule of the target with what was found and what to do: all that `coldpress
    /// doctor` judges by. For `snap-store`, also makes the snap again with the mksquashfs in PATH,
    /// in TMPDIR, as the store does. Ends with exit status 1 if the target does not take the image.
    /// `coldpress doctor --target list` prints the names. May be repeated.
    #[arg(short, long, value_name = "NAME|FILE", hide_short_help = true)]
    pub(crate) target: Vec<OsString>,

    /// Leave out notices: what is legal but unusual
    #[arg(long)]
    pub(crate) no_notices: bool,

    /// Print the problems as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}
