//! `coldpress diff`.

use std::path::PathBuf;

use clap::Args;
use coldpress_delta::Updater;
use coldpress_dialects::parse_offset;
use coldpress_image::ImageOffset;

/// Compare two images, or an image with a directory
///
/// Compares names, types, modes, owners, times, extended attributes, hard links, targets and
/// content. For two images, also compares superblocks and layouts. This shows why images of the
/// same tree have different bytes: the order of data, another level of the compressor, other
/// packing of tail ends.
///
/// Each line is one difference: `FIRST -> SECOND`. The exit status is 0 if there is none, 1 if
/// there is one, 2 if FIRST or SECOND cannot be read.
#[derive(Debug, Default, Args)]
#[command(after_long_help = "\
Example:
  coldpress diff old.sqfs new.sqfs
  coldpress diff old.sqfs new.sqfs --delta zsync,casync,rauc")]
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

    /// Compare only names, types, targets, device numbers and content
    #[arg(long, conflicts_with = "superblock")]
    pub(crate) content_only: bool,

    /// Compare only superblocks and recorded options
    #[arg(long)]
    pub(crate) superblock: bool,

    /// Compare only the trees, not superblocks and layouts
    #[arg(long = "tree-only", alias = "tree", conflicts_with = "superblock")]
    pub(crate) tree: bool,

    /// Ignore the content of files, but not its length
    #[arg(long, conflicts_with = "content_only")]
    pub(crate) no_content: bool,

    /// Ignore permission bits
    #[arg(long)]
    pub(crate) no_modes: bool,

    /// Ignore owners and groups
    #[arg(long)]
    pub(crate) no_owners: bool,

    /// Ignore modification times of files
    #[arg(long)]
    pub(crate) no_times: bool,

    /// Ignore extended attributes
    #[arg(long)]
    pub(crate) no_xattrs: bool,

    /// Ignore which names are the same file
    #[arg(long)]
    pub(crate) no_links: bool,

    /// Byte of FIRST at which its image begins, or `auto` to search for it
    ///
    /// For an image inside another file, as for verbs that read one image. What follows the image
    /// is not compared.
    #[arg(long, value_name = "BYTES", value_parser = parse_offset, hide_short_help = true)]
    pub(crate) offset: Option<ImageOffset>,

    /// Byte of SECOND at which its image begins, or `auto`
    #[arg(long, value_name = "BYTES", value_parser = parse_offset, hide_short_help = true)]
    pub(crate) second_offset: Option<ImageOffset>,

    /// Extract what differs into DIR/old and DIR/new
    ///
    /// From FIRST and from SECOND: files with another type, target or content, and what only one of
    /// them has, with everything below it. DIR must be empty or must not exist.
    #[arg(long, value_name = "DIR", conflicts_with = "superblock")]
    pub(crate) extract: Option<PathBuf>,

    /// Tell what updaters transfer from FIRST to SECOND instead, and why
    ///
    /// A list of xdelta3, zsync, casync, bsdiff, hdiffpatch and rauc. Each is asked by running it
    /// on both files, which it needs to be installed for; of RAUC, the block hash index is
    /// computed. The causes come from comparing the images block by block; see docs/releases.md.
    /// bsdiff takes 17 bytes of memory for each byte of FIRST.
    #[arg(
        long,
        value_name = "UPDATERS",
        value_delimiter = ',',
        conflicts_with_all = [
            "content_only", "superblock", "tree", "no_content", "no_modes", "no_owners",
            "no_times", "no_xattrs", "no_links", "offset", "second_offset", "extract", "all"
        ]
    )]
    pub(crate) delta: Vec<Updater>,

    /// Print every difference of the trees [default: the first 100]
    #[arg(long)]
    pub(crate) all: bool,

    /// Print the differences as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
