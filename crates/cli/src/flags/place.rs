//! Where in a file the image begins, for every verb that reads one.

use clap::Args;
use coldpress_dialects::parse_offset;
use coldpress_image::ImageOffset;

/// Which bytes of IMAGE are the image.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct PlaceArgs {
    /// Byte of IMAGE at which the image begins, or `auto` to search for it
    ///
    /// For an image inside another file, such as an AppImage, a SIF container or a firmware. `auto`
    /// takes the partition that a SIF container runs; otherwise the first image that begins in the
    /// first 64 MiB, or after the program at the beginning of the file.
    #[arg(long, value_name = "BYTES", value_parser = parse_offset, hide_short_help = true)]
    pub(crate) offset: Option<ImageOffset>,
}
