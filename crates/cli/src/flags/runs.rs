//! How often a start is measured.

use std::num::NonZeroU32;

use clap::Args;
use coldpress_report::typed::parse_positive;

/// A number of starts.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Cold starts to measure of each image [default: 7]
    ///
    /// Fewer than 6 give no verdict: with 5, one of two equally fast images wins every start too
    /// often by chance.
    #[arg(
        id = "runs",
        long,
        value_name = "N",
        value_parser = parse_positive::<NonZeroU32>,
        default_value = "7",
        hide_default_value = true
    )]
    pub(crate) number: NonZeroU32,
}
