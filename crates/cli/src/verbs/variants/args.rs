//! `coldpress variants`: its command line.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use coldpress_report::typed::parse_size_bytes;

use crate::flags::container::ContainerArgs;
use crate::flags::image::CompressorName;
use crate::flags::source::SourceArgs;

/// Make several images of the same files for machines that differ, with an index
///
/// Each machine then takes the image that suits it, with `coldpress pick`. docs/variants.md
/// explains how the set is chosen, and what the index holds.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_long_help = "\
Example:
  coldpress variants build rootfs -o set --trace app.trace --count 3
  coldpress pick set/index.json -o app.sqfs"
)]
pub(crate) struct VariantsArgs {
    #[command(subcommand)]
    pub(crate) verb: VariantsVerb,
}

/// What to do with a set of images.
#[derive(Debug, Subcommand)]
pub(crate) enum VariantsVerb {
    Build(Box<VariantsBuildArgs>),
    Index(VariantsIndexArgs),
}

/// Build the set of images whose expected start no other set of that number beats
///
/// Considers the images that `coldpress tune` considers, predicts a start from each for every
/// client, and takes the set with the least mean start, where each client starts from the image of
/// the set that is best for it. Then builds and verifies the images, and writes index.json.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("start").args(["trace", "profile"]).required(true),
    after_long_help = "\
Example:
  coldpress variants build rootfs -o set --trace app.trace --count 2 \\
    --client share=0.7,ssd --client share=0.3,usb2,target=openwrt"
)]
pub(crate) struct VariantsBuildArgs {
    /// The directory, image or container image to build images from
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,

    /// Write the images and index.json to this directory, which is made if there is none
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    /// How many images, at most [default: 3]
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        default_value = "3",
        hide_default_value = true,
        value_parser = clap::value_parser!(u8).range(1..=64)
    )]
    pub(crate) count: u8,

    /// A kind of machine that starts from the images; can be repeated
    ///
    /// Parts divided by commas: `share=` of the starts; a device as of `--device`; `target=`, a
    /// reader that `coldpress doctor` knows; `reader=fuse` for a mount in user space; `memory=`,
    /// what a start may leave in memory; `download=`, bytes per second, and `starts=` for each
    /// download. Without any, docs/variants.md says which machines are meant.
    #[arg(long, value_name = "CLIENT")]
    pub(crate) client: Vec<String>,

    #[command(flatten)]
    pub(crate) start: StartArgs,

    /// Compressors to try: gzip, lzo, lz4, xz, zstd and none [default: all]
    #[arg(
        short,
        long,
        value_name = "LIST",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub(crate) compressors: Vec<CompressorName>,

    /// Block sizes to try [default: 16K,64K,128K,256K,1M]
    #[arg(
        short,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = parse_size_bytes
    )]
    pub(crate) block_sizes: Vec<u64>,

    /// Try each compressor at one level, with blocks of 128K and 1M
    #[arg(long)]
    pub(crate) fast: bool,

    /// Also add the images to this OCI layout, as an index with annotations: `oci:DIR:NAME`
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) oci: Option<String>,

    /// Print the index as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) container: ContainerArgs,

    #[command(flatten)]
    pub(crate) source_options: SourceArgs,
}

/// Write the index of images that are there
///
/// The images must hold the same files, and stand in one directory with the index. Any tool may
/// have made them.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("start").args(["trace", "profile"]).required(true),
    after_long_help = "\
Example:
  coldpress variants index set/zstd.sqfs set/xz.sqfs -o set/index.json --trace app.trace"
)]
pub(crate) struct VariantsIndexArgs {
    /// The images
    #[arg(value_name = "IMAGE", required = true)]
    pub(crate) images: Vec<PathBuf>,

    /// Write the index to this file, beside the images
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) start: StartArgs,

    /// Also add the images to this OCI layout, as an index with annotations: `oci:DIR:NAME`
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) oci: Option<String>,
}

/// The start by which images are compared.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// The start: a trace of `coldpress record`
    #[arg(long, value_name = "TRACE")]
    pub(crate) trace: Option<PathBuf>,

    /// The start: a profile of `coldpress profile merge`
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,

    /// Seconds that the start takes when it reads nothing
    ///
    /// Without it, the time of the recording without the predicted time of its reads.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) warm: Option<f64>,
}
