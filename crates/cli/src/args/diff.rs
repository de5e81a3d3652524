//! `coldpress diff`.

use std::path::PathBuf;

use clap::Args;

use super::place::{ImageOffset, parse_offset};

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

    /// Byte of FIRST at which its image begins, or `auto` to look for it
    ///
    /// For an image inside another file, as for verbs that read one image. What lies behind the
    /// image is not compared.
    #[arg(long, value_name = "BYTES", value_parser = parse_offset, hide_short_help = true)]
    pub(crate) offset: Option<ImageOffset>,

    /// Byte of SECOND at which its image begins, or `auto`
    #[arg(long, value_name = "BYTES", value_parser = parse_offset, hide_short_help = true)]
    pub(crate) second_offset: Option<ImageOffset>,

    /// Extract what differs into DIR/old and DIR/new
    ///
    /// Of FIRST and of SECOND: files of another type, target or content, and what only one of them has,
    /// with all that is below it. DIR must be empty or not there.
    #[arg(long, value_name = "DIR", conflicts_with = "superblock")]
    pub(crate) extract: Option<PathBuf>,

    /// Print every difference of the trees [default: the first 100]
    #[arg(long)]
    pub(crate) all: bool,

    /// Print the differences as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
