//! How container images are read.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use coldpress_container::Platform;

/// How sources that are container images are read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Container images")]
pub(crate) struct ContainerArgs {
    /// The platform of a container image: `linux/arm64/v8` [default: that of this machine]
    #[arg(long, value_name = "OS/ARCH", value_parser = platform, hide_short_help = true)]
    pub(crate) platform: Option<Platform>,

    #[command(flatten)]
    pub(crate) registry: RegistryArgs,

    /// Directory for what comes from registries [default: coldpress/containers in the user's cache]
    ///
    /// `COLDPRESS_BLOB_CACHE` names one too. `coldpress cache` lists what it holds, and removes it.
    #[arg(long = "blob-cache", value_name = "DIR", hide_short_help = true)]
    pub(crate) cache: Option<PathBuf>,

    /// Follow links of lower layers to directories
    ///
    /// A layer may have `lib/x` but no entry for `lib`, while `lib` is a symbolic link in a lower
    /// layer. Without this flag, a directory replaces the link, as in an overlay of unpacked
    /// layers, and coldpress warns of it. With this flag, `x` goes into the directory to which the
    /// link leads.
    #[arg(long, hide_short_help = true)]
    pub(crate) follow_symlinks: bool,
}

/// How registries are asked.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RegistryArgs {
    /// Credentials for registries [default: those of podman, docker and enroot]
    ///
    /// A file as `podman login` and `docker login` write it. The environment variable
    /// `REGISTRY_AUTH_FILE` can name it too.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) authfile: Option<PathBuf>,

    /// Use HTTP without TLS, as coldpress always does for registries on this machine
    #[arg(long, hide_short_help = true)]
    pub(crate) plain_http: bool,
}

/// What an image is for, if it needs files of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TargetName {
    /// `enroot start`.
    Enroot,
    /// `ch-run`.
    Charliecloud,
    /// `apptainer run`.
    Apptainer,
}

pub(crate) fn platform(text: &str) -> Result<Platform, String> {
    text.parse()
        .map_err(|_| "must be like `linux/amd64` or `linux/arm/v7`".to_owned())
}
