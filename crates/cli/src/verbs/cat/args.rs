//! `coldpress cat`: its command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use coldpress_report::typed::parse_size_bytes;

use crate::flags::place::PlaceArgs;
use crate::flags::reading::ReadingArgs;

/// Print files of an image
///
/// Writes the content of each PATH to standard output, one after the other. Follows symbolic links
/// inside the image. Decompresses large files on several threads.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress cat rootfs.sqfs /etc/os-release")]
pub(crate) struct CatArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Files inside the image
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<OsString>,

    /// Leave out this many bytes at the beginning of each file
    ///
    /// Their blocks are not read.
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes, default_value = "0",
        hide_default_value = true)]
    pub(crate) skip: u64,

    /// Print at most this many bytes of each file
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) length: Option<u64>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}
