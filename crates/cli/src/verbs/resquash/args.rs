//! `coldpress resquash`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::flags::place::PlaceArgs;

/// Build an image again from its content, and compare the bytes
///
/// Uses the tool and settings that `identify` finds. coldpress writes images of coldpress again,
/// without a plan. For images of mksquashfs, it extracts them into TMPDIR and calls the mksquashfs
/// in PATH, which needs root if not all files belong to root. For images of gensquashfs and
/// tar2sqfs, it calls tar2sqfs with an archive in TMPDIR.
///
/// The exit status is 0 if the bytes are the same. It is 1 if they differ, which resquash then
/// explains, or if it cannot find out here.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress resquash app.snap --rules snap-store")]
pub(crate) struct ResquashArgs {
    /// The image to build again
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Build it as a store does that only accepts images it can rebuild
    ///
    /// `snap-store`: compressed with xz or lzo, without fragment blocks, and the same as what
    /// `mksquashfs DIR IMAGE -fstime TIME -noappend -comp xz|lzo -all-root -no-xattrs
    /// -no-fragments` makes of its content. The store does not require this of snaps of the types
    /// `base` and `os`.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) rules: Option<RulesName>,

    /// Print the verdict as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Whose rules an image is to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulesName {
    /// The automatic review of the Snap Store
    SnapStore,
}
