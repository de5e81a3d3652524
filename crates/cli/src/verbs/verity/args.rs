//! `coldpress verity`: its command line.

use std::path::PathBuf;

use clap::Args;

use crate::flags::verity::{HashTreeArgs, TreeForm};

/// Write the dm-verity hash tree of an image, and print its root hash
///
/// The kernel's dm-verity lets nobody read a block whose hash is not in the tree, and the root hash
/// stands for the whole tree. The bytes are those of `veritysetup format`. `coldpress build
/// --verity` does the same while it builds; `coldpress check --roothash` verifies; see
/// docs/verity.md.
///
/// With `append`, IMAGE is written again beside its place and replaced when it is complete. A hash
/// tree that was appended before is left out.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress verity app.raw sidecar
  coldpress verity app.sqfs append > app.roothash")]
pub(crate) struct VerityArgs {
    /// The image, whose bytes do not change
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Where the hash tree goes
    #[arg(value_name = "FORM", value_enum)]
    pub(crate) verity: TreeForm,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) hash_tree: HashTreeArgs,
}
