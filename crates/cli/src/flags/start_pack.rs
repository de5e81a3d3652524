//! Whether an image gets a start pack, and how large that may be.

use clap::Args;
use coldpress_pack::PackLimit;
use coldpress_report::typed::parse_size_bytes;

/// Whether an image gets a start pack.
#[derive(Debug, Args)]
pub(crate) struct StartPackArgs {
    /// Append a start pack, the pages of the recorded start, up to this size
    ///
    /// `+10%` is a tenth of the image's size, `20M` an absolute size. The start pack follows the
    /// image and does not change it: the kernel mounts the image as before, and `coldpress mount`,
    /// `run` and `squashfuse` read the pack first. A pack helps if the start needs small parts of
    /// large files. See docs/start-pack.md.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_pack_limit,
        allow_hyphen_values = true,
        conflicts_with = "plan",
        hide_short_help = true
    )]
    pub(crate) start_pack: Option<PackLimit>,
}

fn parse_pack_limit(text: &str) -> Result<PackLimit, String> {
    PackLimit::parse(text, |text| parse_size_bytes(text).ok())
}
