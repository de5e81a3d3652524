//! `coldpress build`.

use std::path::PathBuf;

use clap::Args;

use super::{ImageArgs, SourceArgs};

/// Build an image from directories
///
/// The content of one SOURCE becomes the root of the image; several SOURCEs stand in the root
/// under their own names. Everything is kept: hard links, holes, owners, times, device numbers,
/// extended attributes.
///
/// The same tree and options give the same bytes, whatever the number of threads, the order of
/// the directories on disk, the umask or the clock. So the modification time of the image is the
/// newest time in the tree; with `SOURCE_DATE_EPOCH` it is that, and newer times are
/// lowered to it.
///
/// IMAGE is written beside its final place and takes it when complete: an old IMAGE stays as it
/// was until then, also if the build fails.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress build rootfs rootfs.sqfs -c zstd -l 19 --plan rootfs.plan")]
pub(crate) struct BuildArgs {
    /// Directories to store (or files, if there are several)
    #[arg(value_name = "SOURCE", required = true)]
    pub(crate) sources: Vec<PathBuf>,

    /// The image to write
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Order the image by this plan
    ///
    /// A text file as `coldpress press --plan-out` writes it. What it does not name follows in
    /// the order of the tree; what it names in vain is told in a warning.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,

    /// Read the finished image back and compare it with the sources
    #[arg(long)]
    pub(crate) verify: bool,

    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) image_options: ImageArgs,

    #[command(flatten)]
    pub(crate) source_options: SourceArgs,
}
