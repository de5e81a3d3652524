//! `coldpress resquash`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::place::PlaceArgs;

/// Make an image again from what it holds, and see whether it is the same bytes
///
/// The tool and its settings are those that `identify` finds. Images of coldpress are written by
/// coldpress, without a plan; images of mksquashfs are extracted into TMPDIR and made by the
/// mksquashfs in PATH, which takes root if not all files belong to root; those of gensquashfs and
/// tar2sqfs are made by tar2sqfs of an archive in TMPDIR.
///
/// The exit status is 0 if the bytes are the same, and 1 if they are not, which is then explained,
/// or if it cannot be told here.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress resquash app.snap --rules snap-store")]
pub(crate) struct ResquashArgs {
    /// The image to make again
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Make it as a store does that takes only images it can make itself
    ///
    /// `snap-store`: compressed by xz or lzo, without fragment blocks, and the same as what
    /// `mksquashfs DIR IMAGE -fstime TIME -noappend -comp xz|lzo -all-root -no-xattrs -no-fragments`
    /// makes of what it holds. The store does not ask that of snaps of the types `base` and `os`.
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
