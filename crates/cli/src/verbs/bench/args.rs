//! `coldpress bench`.

use clap::{Args, Subcommand};

use crate::verbs::bench::boot::args::BootArgs;
use crate::verbs::bench::build::args::BenchBuildArgs;
use crate::verbs::bench::compare::args::CompareArgs;
use crate::verbs::bench::launch::args::BenchLaunchArgs;

/// Measure starts, builds and boots in turn, and compare studies
///
/// coldpress keeps every run in the history as soon as it ends (`coldpress history`).
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_long_help = "\
Example:
  coldpress bench compare 12 13 --fail-if 'cold > +5%'"
)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) verb: BenchVerb,
}

/// What to measure or judge.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchVerb {
    Build(Box<BenchBuildArgs>),
    Boot(Box<BootArgs>),
    Compare(CompareArgs),
    Launch(Box<BenchLaunchArgs>),
}
