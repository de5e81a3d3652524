//! `coldpress pick`: its command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use coldpress_report::typed::parse_size_bytes;

use crate::flags::device::DeviceArgs;

/// Choose the image of an index that starts soonest on this machine
///
/// Leaves out the images that the reader is not known to read, predicts a start from each of the
/// others from what INDEX says of them, adds the time of the download, and says why it takes which.
/// With -o, fetches that image, and compares it with all that INDEX says of it before it takes its
/// place.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress pick set/index.json
  coldpress pick https://example.org/app/index.json -o app.sqfs --starts 100")]
pub(crate) struct PickArgs {
    /// The index: a file, an `http://` URL, or `oci:DIR:NAME`
    #[arg(value_name = "INDEX")]
    pub(crate) index: PathBuf,

    /// Write the image to this file, fetched and verified
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    /// Where the image will be read, if not by this kernel: a target of `coldpress doctor`
    #[arg(
        short,
        long,
        value_name = "NAME|FILE",
        conflicts_with = "fuse",
        hide_short_help = true
    )]
    pub(crate) target: Option<OsString>,

    /// Choose for `coldpress mount`, which has every compressor
    #[arg(long)]
    pub(crate) fuse: bool,

    /// Most page cache that the start may fill
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) page_cache: Option<u64>,

    /// Bytes per second of a download [default: measured, if INDEX is a URL]
    ///
    /// A file is there already, so nothing is counted for it unless this is given.
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) download: Option<u64>,

    /// Starts for each download [default: 1]
    ///
    /// The time of the download is divided among them.
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) starts: u32,

    /// Predict with the speeds in docs/cost-model.md, not with those of `coldpress calibrate`
    #[arg(long)]
    pub(crate) default_speeds: bool,

    /// Print the choice as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
