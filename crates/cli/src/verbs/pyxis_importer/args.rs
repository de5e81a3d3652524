//! `coldpress pyxis-importer`: its command line.

use clap::{Args, Subcommand};

use crate::flags::container::ContainerArgs;

/// Import container images for pyxis, the container plugin of Slurm
///
/// Link the program to the name `pyxis-importer` and set `importer=/path/to/pyxis-importer` in
/// plugstack.conf: pyxis then calls it as `pyxis-importer get URI` and `pyxis-importer release`.
#[derive(Debug, Args)]
#[command(
    hide = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    disable_help_subcommand = true,
    after_long_help = "\
Example:
  coldpress pyxis-importer get docker://alpine:3"
)]
pub(crate) struct PyxisImporterArgs {
    #[command(subcommand)]
    pub(crate) verb: PyxisImporterVerb,
}

/// What pyxis asks for.
#[derive(Debug, Subcommand)]
pub(crate) enum PyxisImporterVerb {
    Get(Box<PyxisGetArgs>),
    Release(PyxisReleaseArgs),
}

/// Print the path of an image for enroot, and build it if it is not there
///
/// The image is that of `coldpress build --preset enroot`, and is kept in the cache by the digest
/// of its manifest and the options it is built with. A job that wants the same image gets the same
/// file at once; several jobs at once build it once. `coldpress cache` lists and removes images.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress pyxis-importer get docker://nvcr.io#nvidia/pytorch:25.06-py3")]
pub(crate) struct PyxisGetArgs {
    /// The image, as enroot writes it, or any other reference to a container image
    #[arg(value_name = "URI")]
    pub(crate) uri: String,

    #[command(flatten)]
    pub(crate) container: ContainerArgs,
}

/// Let go of what get has printed
///
/// There is nothing to do: images stay in the cache until `coldpress cache prune` removes them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress pyxis-importer release")]
pub(crate) struct PyxisReleaseArgs {}
