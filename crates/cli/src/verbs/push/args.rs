//! `coldpress push`: its command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coldpress_container::Platform;

use crate::flags::container::{RegistryArgs, platform};

/// Send an image to a registry, or add it to an OCI layout
///
/// Sends the SquashFS image as it is, in one part, and prints its name there with the digest.
/// DESTINATION is `docker://HOST/NAME:TAG` or `oci:DIRECTORY[:NAME]`; see docs/containers.md.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress push app.sqfs docker://localhost:5000/app:1
  coldpress push app.sqfs oci:layout:app --as stacker --config-of docker://localhost:5000/app:1")]
pub(crate) struct PushArgs {
    /// The SquashFS image
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Where to: `docker://HOST/NAME:TAG` or `oci:DIRECTORY[:NAME]`
    #[arg(value_name = "DESTINATION")]
    pub(crate) destination: String,

    /// Who is to read it
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = FormName::Artifact)]
    pub(crate) form: FormName,

    /// The name of the file for those who pull it [default: that of IMAGE; store.squashfs for uenv]
    #[arg(long, value_name = "NAME")]
    pub(crate) file_name: Option<String>,

    /// Say something about the image in its manifest; can be repeated
    #[arg(long, value_name = "KEY=TEXT", value_parser = annotation)]
    pub(crate) annotation: Vec<(String, String)>,

    /// Take the entrypoint, environment and so on from a container image; for `--as stacker`
    #[arg(long, value_name = "REFERENCE")]
    pub(crate) config_of: Option<PathBuf>,

    /// The platform of a container image: `linux/arm64/v8` [default: that of this machine]
    ///
    /// For `--as stacker`, which states it, and for `--config-of`.
    #[arg(long, value_name = "OS/ARCH", value_parser = platform)]
    pub(crate) platform: Option<Platform>,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
}

/// Who reads an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormName {
    /// `oras pull`, and `coldpress` itself: an artifact of the type `application/x-squashfs`
    Artifact,
    /// uenv: the same, with the file name `store.squashfs`
    Uenv,
    /// stacker and atomfs: an image with one SquashFS layer
    Stacker,
}

fn annotation(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("must be a key, `=` and a text".to_owned()),
    }
}
