//! `coldpress diff`.

use std::path::PathBuf;

use clap::Args;

/// Tell what differs between two images, or between an image and a directory
///
/// Compares the trees by names, types, modes, owners, times, extended attributes, hard links,
/// targets and content. Two images are compared by their superblocks and by how they lie, too, which
/// tells why images of the same tree are different bytes: the order of data, another level of the
/// compressor, tail ends packed otherwise.
///
/// Each line is one difference: `FIRST -> SECOND`. The exit status is 0 if there is none, 1 if there
/// is one, 2 if FIRST or SECOND cannot be read.
#[derive(Debug, Default, Args)]
#[command(after_long_help = "\
Example:
  coldpress diff old.sqfs new.sqfs")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the command line"
)]
pub(crate) struct DiffArgs {
    /// An image, or a directory if SECOND is an image
    #[arg(value_name = "FIRST")]
    pub(crate) first: PathBuf,

    /// An image, or a directory if FIRST is an image
    #[arg(value_name = "SECOND")]
    pub(crate) second: PathBuf,

    /// Compare nothing but names, types, targets, device numbers and content
    #[arg(long, conflicts_with = "superblock")]
    pub(crate) content_only: bool,

    /// Compare nothing but superblocks and recorded options
    #[arg(long)]
    pub(crate) superblock: bool,

    /// Compare the trees, not the superblocks and how the images lie
    #[arg(long, conflicts_with = "superblock")]
    pub(crate) tree: bool,

    /// Leave the content of files out, but not its length
    #[arg(long, conflicts_with = "content_only")]
    pub(crate) no_content: bool,

    /// Leave permission bits out
    #[arg(long)]
    pub(crate) no_modes: bool,

    /// Leave owners and groups out
    #[arg(long)]
    pub(crate) no_owners: bool,

    /// Leave modification times of files out
    #[arg(long)]
    pub(crate) no_times: bool,

    /// Leave extended attributes out
    #[arg(long)]
    pub(crate) no_xattrs: bool,

    /// Leave out which names are one file
    #[arg(long)]
    pub(crate) no_links: bool,

    /// Print every difference of the trees [default: the first 100]
    #[arg(long)]
    pub(crate) all: bool,

    /// Print the differences as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
