//! `coldpress profile`: its command line.

mod lists;

pub(crate) use lists::{ListName, ProfileExportArgs, ProfileImportArgs, RecordingName};

use std::path::PathBuf;

use clap::{Args, Subcommand};
use coldpress_report::typed::parse_size_bytes;

use crate::flags::profile::StalenessArgs;

/// Merge and check recordings, and exchange them with other tools
///
/// A profile is a text file to keep under version control. It holds what the starts of a program
/// touch first, from several recordings, in one order. `coldpress build --profile` orders an image
/// by it, even one of a later release, where files have other versions and other paths;
/// docs/profile-format.md explains how they are found.
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_long_help = "\
Example:
  coldpress profile merge start-1.trace start-2.trace start-3.trace --source rootfs -o app.profile
  coldpress profile check app.profile new-rootfs --fail-stale 30"
)]
pub(crate) struct ProfileArgs {
    #[command(subcommand)]
    pub(crate) verb: ProfileVerb,
}

/// What to do with a profile.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileVerb {
    Merge(ProfileMergeArgs),
    Show(ProfileShowArgs),
    Check(ProfileCheckArgs),
    Plan(ProfilePlanArgs),
    Import(ProfileImportArgs),
    Export(ProfileExportArgs),
}

/// Merge traces and profiles into one profile
///
/// The profile holds what any recording touched, and how many of them did, at the median of its
/// positions in their orders. A profile counts as the number of recordings that it was made from.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress profile merge start-*.trace --source rootfs -o app.profile")]
pub(crate) struct ProfileMergeArgs {
    /// Traces of `coldpress record`, and profiles
    #[arg(value_name = "TRACE|PROFILE", required = true)]
    pub(crate) inputs: Vec<PathBuf>,

    /// The profile to write
    #[arg(short, long, value_name = "PROFILE")]
    pub(crate) output: PathBuf,

    /// The directory or image that was recorded
    ///
    /// The profile then holds the length and the hash of each file that was read, to find the file
    /// under another name.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) source: Option<PathBuf>,
}

/// Show what a profile says about files
///
/// For each file that was read, those with the most bytes first: how much of it was surely read,
/// how much possibly, and in how many of the recordings.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress profile show app.profile")]
pub(crate) struct ProfileShowArgs {
    /// The profile, or a trace
    #[arg(value_name = "PROFILE")]
    pub(crate) profile: PathBuf,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show how much of a profile a source no longer has
///
/// Finds files by path, by name without version, and by content. What it does not find is stale: in
/// percent of the paths, and of the bytes that were touched.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress profile check app.profile rootfs --fail-stale 30")]
pub(crate) struct ProfileCheckArgs {
    /// The profile, or a trace
    #[arg(value_name = "PROFILE")]
    pub(crate) profile: PathBuf,

    /// The directory or image of another release
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,

    #[command(flatten)]
    pub(crate) limits: StalenessArgs,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write the plan of a profile for a source
///
/// The order in which `coldpress build --profile` builds an image, as a text file to read and edit.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  coldpress profile plan app.profile --source rootfs -o app.plan")]
pub(crate) struct ProfilePlanArgs {
    /// The profile, or a trace
    #[arg(value_name = "PROFILE")]
    pub(crate) profile: PathBuf,

    /// The directory or image that the plan is for
    #[arg(long, value_name = "SOURCE")]
    pub(crate) source: PathBuf,

    /// The plan to write
    #[arg(short, long, value_name = "PLAN")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) limits: StalenessArgs,

    /// Bytes of a data block; decides what fits into a fragment block [default: 128K]
    #[arg(
        short,
        long,
        value_name = "SIZE",
        value_parser = parse_size_bytes,
        default_value = "128K",
        hide_default_value = true
    )]
    pub(crate) block_size: u64,
}
