//! What of an older image stays where it was.

use std::path::PathBuf;

use clap::Args;
use coldpress_layout::Stability;
use coldpress_report::typed::parse_size_bytes;

/// Flags of a build that keeps what an older image has.
#[derive(Clone, Debug, Args)]
pub(crate) struct StableArgs {
    /// Leave what did not change since this older image where it was, so that updates are small
    ///
    /// The image that users have, with the same compressor, level and block size. Files that did
    /// not change keep their blocks and their order, and fragment blocks of which no tail end
    /// changed stay whole. What changed is written apart. OLD is compared with the sources first;
    /// see docs/releases.md.
    #[arg(long, value_name = "OLD", hide_short_help = true)]
    pub(crate) stable_from: Option<PathBuf>,

    /// How much a small update counts beside a fast start, from 0 to 1
    ///
    /// The order has the least sum of (1 - SHARE) times the bytes that the start reads and SHARE
    /// times the bytes that the update transfers. 0 is the order as without --stable-from; 1 moves
    /// nothing that did not change.
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0.2",
        value_parser = Stability::parse,
        requires = "stable_from",
        hide_short_help = true
    )]
    pub(crate) stability: Stability,

    /// Begin what stays at the same byte as in OLD, modulo SIZE
    ///
    /// For updaters with blocks at fixed places, such as RAUC's block hash index: `--align 4K`. A
    /// power of two up to 1M. Each place at which something was inserted or taken out costs half
    /// of SIZE on average.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_align_bytes,
        requires = "stable_from",
        hide_short_help = true
    )]
    pub(crate) align: Option<u64>,
}

fn parse_align_bytes(text: &str) -> Result<u64, String> {
    let bytes = parse_size_bytes(text)?;
    if bytes.is_power_of_two() && (2..=1 << 20).contains(&bytes) {
        return Ok(bytes);
    }
    Err("it must be a power of two from 2 to 1M".to_owned())
}
