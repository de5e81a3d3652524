//! The verb `dump`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use coldpress_image::DumpArea;

use crate::flags::place::PlaceArgs;

/// Print what every byte of an image means
///
/// In the order of the bytes: each structure with its fields, each block with the files that own
/// it, and bytes that nothing refers to. dump leaves no byte out: a range begins where the one
/// before it ends, or states how many bytes the two share.
///
/// Lines of the first level are image bytes: the first byte, how many, the part of the image, what
/// it is. Lines of the second level are records in a block; in compressed blocks they have the
/// block's byte and the offset after a colon. Lines of the third level are fields: byte of the
/// record, length, name, value, and the bytes in hexadecimal unless they are compressed.
///
/// dump names damage where it is, and continues with the rest; the exit status is then 1.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress dump rootfs.sqfs /etc/passwd --part inode-table")]
pub(crate) struct DumpArgs {
    /// The image to read
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,

    /// Only what belongs to these paths inside the image, and everything below them
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// Only these parts of the image
    #[arg(long = "part", value_name = "PART", value_delimiter = ',', value_parser = area_parser())]
    pub(crate) areas: Vec<DumpArea>,

    /// Print one JSON object for each range of bytes
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

fn area_parser() -> impl clap::builder::TypedValueParser<Value = DumpArea> {
    let parser = PossibleValuesParser::new(DumpArea::ALL.map(DumpArea::name));
    parser.map(|name| {
        let found = DumpArea::ALL.into_iter().find(|area| area.name() == name);
        found.unwrap_or(DumpArea::Superblock)
    })
}
