//! `coldpress inspect`: its command line.

use std::path::PathBuf;

use clap::Args;

use crate::flags::container::ContainerArgs;

/// Print what a container image consists of
///
/// Prints its layers with their sizes and digests, what it runs, and the platforms that it can be
/// had for. IMAGE is a reference: `docker://HOST/NAME:TAG`, `oci:DIRECTORY[:NAME]`,
/// `oci-archive:FILE[:NAME]`, `docker-archive:FILE[:NAME]`, `podman://NAME` or `dockerd://NAME`;
/// see docs/containers.md.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress inspect oci:layout:app --merged")]
pub(crate) struct InspectArgs {
    /// The container image
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Read the layers too, and print what they are when put together
    #[arg(long)]
    pub(crate) merged: bool,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) container: ContainerArgs,
}
