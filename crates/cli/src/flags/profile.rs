//! What of a profile counts, and the profile that orders an image.

use std::path::PathBuf;

use clap::Args;
use coldpress_report::typed::{parse_percent, parse_share};

/// What of a profile counts.
#[derive(Debug, Args)]
pub(crate) struct ShareArgs {
    /// Leave out what a smaller share of the recordings touched [default: 0]
    ///
    /// From 0 to 1: 0.5 keeps what at least half of them touched.
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = parse_share,
        default_value = "0",
        hide_default_value = true
    )]
    pub(crate) min_share: f64,
}

/// What of a profile counts, and how old it may be.
#[derive(Debug, Args)]
pub(crate) struct StalenessArgs {
    #[command(flatten)]
    pub(crate) share: ShareArgs,

    /// Fail if more than this percentage of the profile is stale
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) fail_stale: Option<f64>,
}

/// The profile that orders an image.
#[derive(Debug, Args)]
pub(crate) struct OrderingProfileArgs {
    /// Order the image by this profile
    ///
    /// A profile that `coldpress profile merge` wrote for this release of the program or an older
    /// one, or a trace. Warnings name what the source no longer has.
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    pub(crate) profile: Option<PathBuf>,

    /// Leave out what a smaller share of the profile's recordings touched [default: 0]
    ///
    /// From 0 to 1: 0.5 keeps what at least half of them touched.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "SHARE",
        value_parser = parse_share,
        requires = "profile",
        default_value = "0",
        hide_default_value = true
    )]
    pub(crate) min_share: f64,

    /// Fail, and write no image, if more than this percentage of the profile is stale
    ///
    /// A file is stale if the source no longer has it. `coldpress profile check` prints the
    /// percentages of stale paths and of stale bytes; the larger one counts.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "PERCENT",
        value_parser = parse_percent,
        requires = "profile"
    )]
    pub(crate) fail_stale: Option<f64>,
}
