//! `coldpress profile`.

use clap::{Args, Subcommand};

use super::{ProfileExportArgs, ProfileImportArgs};

/// Take in recordings of other tools, and write lists for them
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_long_help = "\
Example:
  coldpress profile import start.strace --strip /snap/app/12 -o start.trace"
)]
pub(crate) struct ProfileArgs {
    #[command(subcommand)]
    pub(crate) verb: ProfileVerb,
}

/// What to do with a profile.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileVerb {
    Import(ProfileImportArgs),
    Export(ProfileExportArgs),
}
