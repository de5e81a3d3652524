//! Flags for reading content on several threads.

use std::num::NonZeroUsize;

use clap::Args;
use coldpress_report::typed::{parse_positive, parse_size_bytes};

/// What reading may take.
#[derive(Debug, Args)]
pub(crate) struct ReadingArgs {
    /// Threads that decompress [default: as many as this process may use]
    #[arg(short = 'j', long, value_name = "N", value_parser = parse_positive::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Memory for blocks in flight [default: 256M, or less if limited]
    ///
    /// At most a quarter of the memory limit of the control group.
    #[arg(long, value_name = "SIZE", value_parser = parse_size_bytes)]
    pub(crate) memory: Option<u64>,
}
