//! `coldpress profile`, and how `press` and `build` are ordered by a profile.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::number::{parse_percent, parse_share, parse_size_bytes};
use super::{ProfileExportArgs, ProfileImportArgs};

/// Merge recordings, also of other tools, and see what of them a release still has
///
/// A profile is what the starts of a program touch first, of several recordings in one order: a text file to keep
/// under version control. `coldpress build --profile` orders an image by it, also one of a later release, in which files have
/// other versions and other places; docs/profile-format.md tells how they are found.
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
/// What any recording touched is in it, with how many did, at the median of its places in their orders. A profile counts for as
/// many recordings as it was made of.
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
    /// The profile then holds the length and the hash of each file that was read, by which it is found when it has
    /// another name.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) source: Option<PathBuf>,
}

/// Show what a profile says of files
///
/// Each file that was read, those with the most bytes first: how much of it was surely read, how much may have been, and
/// in how many of the recordings.
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

/// Tell how much of a profile is not in a source any more
///
/// Files are found by path, by name without version, and by content. What is not found is stale: in percent of the paths, and of
/// the bytes that were touched.
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
/// It is what `coldpress build --profile` orders the image by, as a text file to read and edit.
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

    /// Bytes of a data block, which decide what fits into a fragment block [default: 128K]
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

/// What of a profile counts.
#[derive(Debug, Args)]
pub(crate) struct ShareArgs {
    /// Leave out what fewer than this share of the recordings touched [default: 0]
    ///
    /// From 0 to 1: with 0.5, what at least half of them touched stays.
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

    /// Fail if more of the profile is stale than this, in percent
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) fail_stale: Option<f64>,
}

/// The profile that orders an image.
#[derive(Debug, Args)]
pub(crate) struct OrderingProfileArgs {
    /// Order the image by this profile
    ///
    /// A text file as `coldpress profile merge` writes it, of this release or an older one, or a trace. What it
    /// names in vain is told in a warning.
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    pub(crate) profile: Option<PathBuf>,

    /// Leave out what fewer than this share of the profile's recordings touched [default: 0]
    ///
    /// From 0 to 1: with 0.5, what at least half of them touched stays.
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

    /// End without an image if more of the profile is stale than this, in percent
    ///
    /// As `coldpress profile check` tells it: the share of its paths, or of the bytes that were
    /// touched, that the source does not have any more.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "PERCENT",
        value_parser = parse_percent,
        requires = "profile"
    )]
    pub(crate) fail_stale: Option<f64>,
}
